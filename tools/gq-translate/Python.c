//===- Python.c - a module as a program in Python -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Python.h"

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

static void appendString(MlirStringRef string, void *text) {
  gqTextAppend(text, string.data, string.length);
}

void pythonAppendAttribute(MlirAttribute attribute, gqText *text) {
  mlirAttributePrint(attribute, appendString, text);
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

bool pythonRefuse(MlirOperation op, const char *format, ...) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  gqText message = {0};
  char reason[256] = "";
  if (format) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
  }
  gqTextPrintf(&message, "'%.*s' op has no equivalent in gq.Graph%s%s",
               (int)name.length, name.data, format ? ": " : "", reason);
  mlirEmitError(mlirOperationGetLocation(op), gqTextString(&message));
  gqTextFree(&message);
  return false;
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
  mlirTypePrint(type, appendString, &name);
  for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); ++i)
    known |= strcmp(gqTextString(&name), elements[i]) == 0;
  gqTextFree(&name);
  return known;
}

bool pythonAppendType(MlirOperation op, MlirType type,
                      const char *const *extents, gqText *text) {
  if (!mlirTypeIsARankedTensor(type)) {
    gqText printed = {0};
    mlirTypePrint(type, appendString, &printed);
    pythonRefuse(op, "a value of type %s, which is no tensor with a rank",
                 gqTextString(&printed));
    gqTextFree(&printed);
    return false;
  }
  gqTextPrintf(text, "[");
  for (int64_t i = 0, dynamic = 0; i < mlirShapedTypeGetRank(type); ++i) {
    gqTextPrintf(text, i ? ", " : "");
    if (!mlirShapedTypeIsDynamicDim(type, i))
      gqTextPrintf(text, "%lld", (long long)mlirShapedTypeGetDimSize(type, i));
    else
      gqTextPrintf(text, "%s", extents ? extents[dynamic++] : "None");
  }
  gqText element = {0};
  mlirTypePrint(mlirShapedTypeGetElementType(type), appendString, &element);
  bool known = pythonIsElement(mlirShapedTypeGetElementType(type));
  gqTextPrintf(text, "], \"%s\"", gqTextString(&element));
  if (!known)
    pythonRefuse(op, "elements of type %s", gqTextString(&element));
  gqTextFree(&element);
  MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(type);
  bool tiled = gqAttributeIsATile128x4(encoding);
  if (known && !mlirAttributeIsNull(encoding) && !tiled)
    return pythonRefuse(op, "a tensor with another encoding");
  if (tiled)
    gqTextPrintf(text, ", tiled=True");
  return known;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

bool pythonWrite(MlirModule module, const char *source, gqText *text) {
  MlirOperation op = mlirModuleGetOperation(module);
  if (mlirOperationGetNumAttributes(op) > 0)
    return pythonRefuse(op, "it has attributes");
  gqTextPrintf(text,
               "\"\"\"Made by gq-translate --mlir-to-python of %s.\n\n"
               "Prints the module; with --in, runs it: see gq.graph.main().\n"
               "\"\"\"\n\nimport gq\n",
               source);
  gqText functions = {0};
  bool valid = true;
  for (MlirOperation function =
           mlirBlockGetFirstOperation(mlirModuleGetBody(module));
       !mlirOperationIsNull(function) && valid;
       function = mlirOperationGetNextInBlock(function)) {
    Program program = {
        mlirModuleGetContext(module), text, "        ", NULL, 0, 0, 0};
    valid = functionWrite(&program, function);
    for (size_t i = 0; i < program.numNames; ++i)
      free(program.names[i].text);
    free(program.names);
    MlirAttribute name = pythonAttribute(function, "sym_name");
    if (valid)
      appendString(mlirStringAttrGetValue(name), &functions);
    gqTextPrintf(&functions, ", ");
  }
  if (valid && !functions.length)
    valid = pythonRefuse(op, "it has no function");
  if (valid)
    gqTextPrintf(text,
                 "\n\nif __name__ == \"__main__\":\n    gq.graph.main(%.*s)\n",
                 (int)functions.length - 2, functions.data);
  gqTextFree(&functions);
  return valid;
}
