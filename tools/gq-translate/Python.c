//===- Python.c - a module as a program in Python -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Python.h"

#include "lib/Support/Print.h"

#include "gq-c/Dialect.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// MLIR
//===----------------------------------------------------------------------===//

void pythonAppendAttribute(MlirAttribute attribute, gqText *text) {
  mlirAttributePrint(attribute, gqAppendString, text);
}

void pythonAppendType(MlirType type, gqText *text) {
  mlirTypePrint(type, gqAppendString, text);
}

bool pythonIsOp(MlirOperation op, const char *name) {
  return !mlirOperationIsNull(op) &&
         mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)),
                            mlirStringRefCreateFromCString(name));
}

MlirAttribute pythonAttribute(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op,
                                         mlirStringRefCreateFromCString(name));
}

bool pythonRefuse(MlirOperation op, const char *reason) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  gqText message = {0};
  gqTextPrintf(&message, "'%.*s' op has no equivalent in gq.Graph: %s",
               (int)name.length, name.data, reason);
  mlirEmitError(mlirOperationGetLocation(op), gqTextString(&message));
  gqTextFree(&message);
  return false;
}

void pythonAppendLiteral(const char *string, gqText *text) {
  char quote = strchr(string, '"') ? '\'' : '"';
  gqTextPrintf(text, "%c", quote);
  for (const char *at = string; *at; ++at) {
    if (*at == '\n')
      gqTextPrintf(text, "\\n");
    else
      gqTextPrintf(text, *at == quote || *at == '\\' ? "\\%c" : "%c", *at);
  }
  gqTextPrintf(text, "%c", quote);
}

/// Whether what is printed of an attribute are no flags, as by default.
static bool isDefault(const char *printed) {
  return strcmp(printed, "#arith.fastmath<none>") == 0 ||
         strcmp(printed, "#arith.overflow<none>") == 0;
}

static bool isOneOf(MlirStringRef name, const char *const *names) {
  for (; *names; ++names)
    if (mlirStringRefEqual(name, mlirStringRefCreateFromCString(*names)))
      return true;
  return false;
}

void pythonAppendAttributes(MlirOperation op, const char *name,
                            const char *const *without, gqText *text) {
  int count = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(op, i);
    MlirStringRef of = mlirIdentifierStr(attribute.name);
    gqText value = {0};
    pythonAppendAttribute(attribute.attribute, &value);
    if (!isOneOf(of, without) && !isDefault(gqTextString(&value))) {
      if (count++)
        gqTextPrintf(text, ", ");
      else
        gqTextPrintf(text, ", %s={", name);
      gqTextPrintf(text, "\"%.*s\": ", (int)of.length, of.data);
      pythonAppendLiteral(gqTextString(&value), text);
    }
    gqTextFree(&value);
  }
  gqTextPrintf(text, count ? "}" : "");
}

bool pythonHasDefaults(MlirOperation op, const char *const *without) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(op, i);
    gqText text = {0};
    pythonAppendAttribute(attribute.attribute, &text);
    bool usual = isDefault(gqTextString(&text)) ||
                 isOneOf(mlirIdentifierStr(attribute.name), without);
    gqTextFree(&text);
    if (!usual)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void pythonName(Program *program, MlirValue value, const char *format, ...) {
  gqText text = {0};
  char name[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(name, sizeof(name), format, arguments);
  va_end(arguments);
  gqTextPrintf(&text, "%s", name);
  if (program->numNames == program->capacity) {
    program->capacity = 2 * program->capacity + 16;
    Name *names = realloc(program->names, program->capacity * sizeof(Name));
    if (!names)
      abort();
    program->names = names;
  }
  program->names[program->numNames++] = (Name){value, gqTextOrAbort(&text)};
}

void pythonForget(Program *program, size_t numNames) {
  while (program->numNames > numNames)
    free(program->names[--program->numNames].text);
}

const char *pythonNameOf(const Program *program, MlirValue value) {
  for (size_t i = program->numNames; i > 0; --i)
    if (mlirValueEqual(program->names[i - 1].value, value))
      return program->names[i - 1].text;
  return NULL;
}

int pythonFresh(Program *program) { return program->count++; }

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool pythonIsElement(MlirType type) {
  static const char *const elements[] = {
      "i1",  "i8",  "i16",      "i32",    "i64",       "f16",     "bf16",
      "f32", "f64", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN"};
  gqText name = {0};
  bool known = false;
  mlirTypePrint(type, gqAppendString, &name);
  for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); ++i)
    known |= strcmp(gqTextString(&name), elements[i]) == 0;
  gqTextFree(&name);
  return known;
}

bool pythonIsTensor(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) ||
      !pythonIsElement(mlirShapedTypeGetElementType(type)))
    return false;
  MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(type);
  return mlirAttributeIsNull(encoding) || gqAttributeIsATile128x4(encoding);
}

void pythonAppendTensor(MlirType type, const char *const *extents,
                        gqText *text) {
  gqTextPrintf(text, "[");
  for (int64_t i = 0, dynamic = 0; i < mlirShapedTypeGetRank(type); ++i) {
    gqTextPrintf(text, i ? ", " : "");
    if (!mlirShapedTypeIsDynamicDim(type, i))
      gqTextPrintf(text, "%lld", (long long)mlirShapedTypeGetDimSize(type, i));
    else
      gqTextPrintf(text, "%s", extents ? extents[dynamic++] : "None");
  }
  gqTextPrintf(text, "], \"");
  pythonAppendType(mlirShapedTypeGetElementType(type), text);
  gqTextPrintf(text, "\"");
  if (!mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    gqTextPrintf(text, ", tiled=True");
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Writes what the module holds but functions, as text that goes beside each
/// graph. Returns whether there is any.
static bool writeBeside(MlirBlock body, gqText *text) {
  gqText beside = {0};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsUseLocalScope(flags);
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (functionIsDefined(op))
      continue;
    mlirOperationPrintWithFlags(op, flags, gqAppendString, &beside);
    gqTextPrintf(&beside, "\n");
  }
  mlirOpPrintingFlagsDestroy(flags);
  bool any = beside.length > 0;
  if (any) {
    gqTextPrintf(text, "\nBESIDE = \"\"\"\\\n");
    for (size_t i = 0; i < beside.length; ++i) {
      bool isSpecial = beside.data[i] == '\\' ||
                       (beside.data[i] == '"' && beside.data[i + 1] == '"');
      gqTextPrintf(text, isSpecial ? "\\%c" : "%c", beside.data[i]);
    }
    gqTextPrintf(text, "\"\"\"\n");
  }
  gqTextFree(&beside);
  return any;
}

bool pythonWrite(MlirModule module, const char *source, gqText *text) {
  static const char indent[] =
      "                                                                "
      "                                                                ";
  MlirOperation op = mlirModuleGetOperation(module);
  MlirBlock body = mlirModuleGetBody(module);
  if (mlirOperationGetNumAttributes(op) > 0)
    return pythonRefuse(op, "it has attributes");
  gqTextPrintf(text,
               "\"\"\"Made by gq-translate --mlir-to-python of %s.\n\n"
               "Prints the module; with --in, runs it: see gq.graph.main().\n"
               "\"\"\"\n\nimport gq\n",
               source);
  bool hasBeside = writeBeside(body, text);
  gqText functions = {0};
  bool valid = true;
  for (MlirOperation function = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(function) && valid;
       function = mlirOperationGetNextInBlock(function)) {
    if (!functionIsDefined(function))
      continue;
    Program program = {mlirModuleGetContext(module),
                       text,
                       indent + sizeof(indent) - 1,
                       hasBeside,
                       NULL,
                       0,
                       0,
                       0};
    valid = functionWrite(&program, function);
    pythonForget(&program, 0);
    free(program.names);
    gqTextPrintf(&functions, functions.length ? ", " : "");
    functionAppendName(function, &functions);
  }
  if (valid && !functions.length)
    valid = pythonRefuse(op, "it has no function");
  if (valid)
    gqTextPrintf(text,
                 "\n\nif __name__ == \"__main__\":\n    gq.graph.main(%s)\n",
                 gqTextString(&functions));
  gqTextFree(&functions);
  return valid;
}
