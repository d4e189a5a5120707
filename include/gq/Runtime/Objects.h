//===- Objects.h - calls on tensors of an interpreter ------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a binding needs to call one function again and again without making a
// DLTensor of each argument: a key that says what the arguments are, by which
// it finds what it prepared for them, and a call that takes addresses alone.
// Nothing here needs the interpreter: its functions are passed.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_RUNTIME_OBJECTS_H
#define GQ_RUNTIME_OBJECTS_H

#include "gq/Runtime/Executable.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /// The most tensors of a call.
  GQ_MAX_OBJECTS = 64,
  /// The most words of a key of gqReadObjects().
  GQ_MAX_KEY = GQ_MAX_OBJECTS * (1 + GQ_MAX_RANK),
};

/// How tensors are read that are objects of an interpreter. All functions are
/// called with what they need held, such as CPython's lock.
typedef struct gqObjectReader {
  /// The object at an index of a tuple, borrowed: PyTuple_GetItem.
  void *(*item)(void *tuple, intptr_t index);
  /// Drops the interpreter's error: PyErr_Clear.
  void (*clearError)(void);
  /// Describes a tensor, whose shape and strides stay the object's:
  /// dltensor_from_py_object_no_sync of DLPack's C exchange API. Not 0 if it
  /// cannot, with an error of the interpreter.
  int (*describe)(void *object, DLTensor *tensor);
  /// The object that stands for no tensor: None.
  const void *none;
} gqObjectReader;

/// Reads the tensors in a tuple of `count` objects. `data` gets the addresses
/// of those that are there, one after the other, and `key` what they are: two
/// tuples have the same key exactly if the same of their items are there, with
/// the same dtypes, shapes and devices. Both are the caller's, of
/// GQ_MAX_OBJECTS and GQ_MAX_KEY words. Returns the number of words of the key,
/// or 0 if there are too many objects or one of them is not a tensor that can
/// be described or is not contiguous; then both hold anything.
GQ_EXPORT size_t gqReadObjects(const gqObjectReader *reader, void *tuple,
                               size_t count, void **data, int64_t *key);

/// What gqExport() needs of an interpreter, here CPython's own functions.
typedef struct gqInterpreter {
  int (*isInitialized)(void); ///< Py_IsInitialized
  int (*ensure)(void);        ///< PyGILState_Ensure
  void (*release)(int state); ///< PyGILState_Release
  void (*incRef)(void *object);
  void (*decRef)(void *object);
  int (*isCapsule)(void *object, const char *name); ///< PyCapsule_IsValid
  void *(*capsulePointer)(void *object, const char *name); ///< .._GetPointer
} gqInterpreter;

/// A tensor for others that is `tensor`, whose extents and strides are copied,
/// and that holds a reference to the object `owner` until its deleter is
/// called, by any thread, at any time, also while an error is being raised.
/// Null if memory runs out. `interpreter` stays where it is, the same in all
/// calls.
GQ_EXPORT DLManagedTensor *gqExport(const gqInterpreter *interpreter,
                                    void *owner, const DLTensor *tensor);

/// The destructor of a capsule of gqExport(): deletes what nobody took, which
/// is still called "dltensor".
GQ_EXPORT void gqExportDestroy(void *capsule);

/// Runs the only public function of a module, which has no fresh results, on
/// tensors that are what those at `like` are, which have no byte offset, but at
/// the addresses `data`. For "cuda", all tensors are on one device, which is
/// the thread's during the call, and `stream` becomes the thread's (see
/// gqSetStream). Errors: those of gqInvoke(); GQ_INVALID_ARGUMENT if there are
/// more than GQ_MAX_OBJECTS.
GQ_EXPORT gqStatus gqInvokeAt(gqExecutable *executable, const DLTensor *like,
                              void *const *data, size_t count, void *stream);

#ifdef __cplusplus
}
#endif

#endif // GQ_RUNTIME_OBJECTS_H
