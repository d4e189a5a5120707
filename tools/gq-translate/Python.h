//===- Python.h - a module as a program in Python ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function of the module becomes one that records a gq.Graph, and each op
// a call in it: the one that a user would write where there is such, else
// Graph.op(), which records any op.
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
  /// The prefix of each line, in memory with more spaces before it.
  const char *indent;
  /// Whether there is BESIDE, what the module holds but functions.
  bool hasBeside;
  Name *names;
  size_t numNames, capacity;
  /// How many names were made up.
  int count;
} Program;

/// Reports that `op` has no equivalent: "'func.func' op has no equivalent in
/// gq.Graph: " and the reason. Returns false.
bool pythonRefuse(MlirOperation op, const char *reason);

/// Gives a value a name, or the expression that it is.
void pythonName(Program *program, MlirValue value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// The name of a value; null if it has none, as that of an op that was not
/// written.
const char *pythonNameOf(const Program *program, MlirValue value);

/// Forgets all names but the first.
void pythonForget(Program *program, size_t numNames);

/// Makes up a name for results: v0, v1, ...
int pythonFresh(Program *program);

bool pythonIsOp(MlirOperation op, const char *name);
MlirAttribute pythonAttribute(MlirOperation op, const char *name);
/// Appends what MLIR prints of an attribute or a type.
void pythonAppendAttribute(MlirAttribute attribute, gqText *text);
void pythonAppendType(MlirType type, gqText *text);
/// Appends a string as a literal of Python.
void pythonAppendLiteral(const char *string, gqText *text);
/// Appends ", NAME={...}" with the attributes but those of these names, which
/// end in a null; nothing if there are no others.
void pythonAppendAttributes(MlirOperation op, const char *name,
                            const char *const *without, gqText *text);
/// Whether the attributes of an op but those of these names, which end in a
/// null, say what they do by default: no flags.
bool pythonHasDefaults(MlirOperation op, const char *const *without);

/// Whether gq.Graph has this element type.
bool pythonIsElement(MlirType type);
/// Whether a type is that of a Tensor: its elements are such, and it has no
/// encoding but tiles.
bool pythonIsTensor(MlirType type);

/// Appends the type of a tensor as arguments of Graph.input() and .empty():
/// the shape of `extents` names of its dynamic extents (None if null), the
/// element type and whether it is tiled.
void pythonAppendTensor(MlirType type, const char *const *extents,
                        gqText *text);

/// Writes a function of elements, gq.producers.typed(), from a region whose
/// last `numUnused` arguments are of no use, and sets its name. Says the types
/// of its arguments if they are others than `usual`, which may be null. Returns
/// false where there is no such function.
bool elementWrite(Program *program, MlirRegion region, intptr_t numUnused,
                  MlirType usual, char name[16]);
/// Whether a value is a constant that is a number in Python: an index, an
/// integer or a float.
bool elementIsNumber(MlirValue value);
/// Names the value of such a constant.
void elementNameNumber(Program *program, MlirValue value);

/// Writes a call of the function of a gq op. Returns false where there is none.
bool opWrite(Program *program, MlirOperation op);

/// Writes Graph.op(), or Graph.call(). Returns false after a diagnostic.
bool genericWrite(Program *program, MlirOperation op);
/// Appends a value as an operand of Graph.op().
void genericAppendOperand(const Program *program, MlirValue value,
                          gqText *text);

/// The operand of a gq op that a result is written into.
MlirValue opOutOf(MlirOperation op, intptr_t result);

/// Writes the ops of a block. Returns false after a diagnostic.
bool functionWriteBlock(Program *program, MlirBlock block);
/// Writes a function. Returns false after a diagnostic.
bool functionWrite(Program *program, MlirOperation function);
/// Whether an op is a function with a body, which becomes one in Python.
bool functionIsDefined(MlirOperation op);
/// The function of a name, null if the module defines none.
MlirOperation functionFind(MlirOperation from, MlirStringRef name);
/// Appends what a function is called in the program.
void functionAppendName(MlirOperation function, gqText *text);

#endif // GQ_TOOLS_TRANSLATE_PYTHON_H
