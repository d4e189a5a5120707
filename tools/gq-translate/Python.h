//===- Python.h - a module as a program in Python ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function of the module becomes one that records a gq.Graph, and each op
// a call in it. What gq.Graph has no call for is an error at its location.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_TRANSLATE_PYTHON_H
#define GQ_TOOLS_TRANSLATE_PYTHON_H

#include "lib/Support/Text.h"

#include <mlir-c/IR.h>

/// Writes the program. Returns false after a diagnostic.
bool pythonWrite(MlirModule module, const char *source, gqText *text);

/// What a value is called in the program.
typedef struct Name {
  MlirValue value;
  char *text;
} Name;

/// A function that is being written.
typedef struct Program {
  MlirContext context;
  gqText *text;
  /// The prefix of each line.
  const char *indent;
  Name *names;
  size_t numNames, capacity;
  /// How many names were made up.
  int count;
} Program;

/// Reports that `op` has no equivalent: "'arith.subi' op has no equivalent in
/// gq.Graph: " and the reason, which may be null. Returns false.
bool pythonRefuse(MlirOperation op, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Gives a value a name, or the expression that it is.
void pythonName(Program *program, MlirValue value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// The name of a value; null if it has none, as that of an op that was not
/// written.
const char *pythonNameOf(const Program *program, MlirValue value);

/// Makes up a name for results: v0, v1, ...
int pythonFresh(Program *program);

bool pythonIsOp(MlirOperation op, const char *name);
MlirAttribute pythonAttribute(MlirOperation op, const char *name);
/// Appends what MLIR prints of an attribute.
void pythonAppendAttribute(MlirAttribute attribute, gqText *text);

/// Whether gq.Graph has this element type.
bool pythonIsElement(MlirType type);

/// Appends the type of a tensor as arguments of Graph.input() and .empty():
/// the shape of `extents` names of its dynamic extents (None if null), the
/// element type and whether it is tiled. Returns false after a diagnostic.
bool pythonAppendType(MlirOperation op, MlirType type,
                      const char *const *extents, gqText *text);

/// Writes a function of elements, gq.producers.typed(), from a region whose
/// last `numUnused` arguments are of no use, and sets its name. Says the types
/// of its arguments if they are others than `usual`, which may be null.
bool elementWrite(Program *program, MlirRegion region, intptr_t numUnused,
                  MlirType usual, char name[16]);
/// Whether the op is a constant, whose value is then named: an index, an
/// integer or a float of elements.
bool elementIsConstant(Program *program, MlirOperation op);

/// Writes a call of the function of a gq op.
bool opWrite(Program *program, MlirOperation op);

/// The operand of a gq op that a result is written into.
MlirValue opOutOf(MlirOperation op, intptr_t result);

/// Writes a function.
bool functionWrite(Program *program, MlirOperation function);

#endif // GQ_TOOLS_TRANSLATE_PYTHON_H
