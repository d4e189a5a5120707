//===- Harden.c - LLVM IR for arguments of any value ----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harden.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Bools
//===----------------------------------------------------------------------===//

static bool isLoadOfBool(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMIsALoadInst(value) &&
         LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(type) == 1;
}

/// Loads a byte and compares it with 0.
static void replaceLoadOfBool(LLVMBuilderRef ir, LLVMValueRef load) {
  LLVMTypeRef byte =
      LLVMInt8TypeInContext(LLVMGetTypeContext(LLVMTypeOf(load)));
  LLVMPositionBuilderBefore(ir, load);
  LLVMValueRef loaded = LLVMBuildLoad2(ir, byte, LLVMGetOperand(load, 0), "");
  LLVMSetAlignment(loaded, LLVMGetAlignment(load));
  LLVMSetVolatile(loaded, LLVMGetVolatile(load));
  LLVMReplaceAllUsesWith(
      load, LLVMBuildICmp(ir, LLVMIntNE, loaded, LLVMConstNull(byte), ""));
  LLVMInstructionEraseFromParent(load);
}

static void replaceLoadsOfBool(LLVMBuilderRef ir, LLVMValueRef function) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef op = LLVMGetFirstInstruction(block), next; op;
         op = next) {
      next = LLVMGetNextInstruction(op);
      if (isLoadOfBool(op))
        replaceLoadOfBool(ir, op);
    }
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The computation of a size, in i64.
typedef struct Size {
  LLVMModuleRef module;
  LLVMBuilderRef ir;
  LLVMTypeRef i64;
  /// Whether a product did not fit, an i1.
  LLVMValueRef overflow;
  /// How many more factors are looked at.
  int budget;
} Size;

static bool isInstruction(LLVMValueRef value, LLVMOpcode opcode) {
  return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
}

/// lhs * rhs, as signed numbers.
static LLVMValueRef multiply(Size *size, LLVMValueRef lhs, LLVMValueRef rhs) {
  static const char name[] = "llvm.smul.with.overflow";
  unsigned id = LLVMLookupIntrinsicID(name, sizeof(name) - 1);
  LLVMValueRef function =
      LLVMGetIntrinsicDeclaration(size->module, id, &size->i64, 1);
  LLVMValueRef operands[] = {lhs, rhs};
  LLVMValueRef product = LLVMBuildCall2(
      size->ir, LLVMGlobalGetValueType(function), function, operands, 2, "");
  size->overflow =
      LLVMBuildOr(size->ir, size->overflow,
                  LLVMBuildExtractValue(size->ir, product, 1, ""), "");
  return LLVMBuildExtractValue(size->ir, product, 0, "");
}

/// Computes the products that `value` consists of again.
static LLVMValueRef rebuildProduct(Size *size, LLVMValueRef value) {
  if (!isInstruction(value, LLVMMul) || size->budget-- <= 0)
    return value;
  LLVMValueRef lhs = rebuildProduct(size, LLVMGetOperand(value, 0));
  LLVMValueRef rhs = rebuildProduct(size, LLVMGetOperand(value, 1));
  return multiply(size, lhs, rhs);
}

/// The number of bytes that `value` computes. Where MLIR does not know the size
/// of an element it takes the address of element n of an array at null.
static LLVMValueRef rebuildBytes(Size *size, LLVMValueRef value) {
  if (!isInstruction(value, LLVMPtrToInt))
    return rebuildProduct(size, value);
  LLVMValueRef address = LLVMGetOperand(value, 0);
  if (!isInstruction(address, LLVMGetElementPtr) ||
      LLVMGetNumOperands(address) != 2 ||
      !LLVMIsNull(LLVMGetOperand(address, 0)))
    return value;
  unsigned long long element =
      LLVMABISizeOfType(LLVMGetModuleDataLayout(size->module),
                        LLVMGetGEPSourceElementType(address));
  return multiply(size, rebuildProduct(size, LLVMGetOperand(address, 1)),
                  LLVMConstInt(size->i64, element, /*SignExtend=*/false));
}

/// Replaces the operand of `call`, a size with a constant for the alignment
/// added to it or not.
static void replaceSize(LLVMModuleRef module, LLVMBuilderRef ir,
                        LLVMValueRef call) {
  LLVMValueRef old = LLVMGetOperand(call, 0), bytes = old, padding = NULL;
  LLVMContextRef context = LLVMGetModuleContext(module);
  Size size = {module, ir, LLVMInt64TypeInContext(context),
               LLVMConstNull(LLVMInt1TypeInContext(context)),
               /*budget=*/64};
  if (LLVMTypeOf(old) != size.i64)
    return;
  if (isInstruction(old, LLVMAdd) &&
      LLVMIsAConstantInt(LLVMGetOperand(old, 1)) &&
      LLVMConstIntGetSExtValue(LLVMGetOperand(old, 1)) >= 0) {
    bytes = LLVMGetOperand(old, 0);
    padding = LLVMGetOperand(old, 1);
  }
  LLVMPositionBuilderBefore(ir, call);
  LLVMValueRef value = rebuildBytes(&size, bytes);
  LLVMValueRef bad = LLVMBuildOr(
      ir, size.overflow,
      LLVMBuildICmp(ir, LLVMIntSLT, value, LLVMConstNull(size.i64), ""), "");
  if (padding)
    value = LLVMBuildAdd(ir, value, padding, "");
  LLVMValueRef none = LLVMConstAllOnes(size.i64);
  LLVMSetOperand(call, 0, LLVMBuildSelect(ir, bad, none, value, ""));
}

/// Replaces the sizes in the calls of a declared function.
static void replaceSizes(LLVMModuleRef module, LLVMBuilderRef ir,
                         const char *name) {
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  if (!function || !LLVMIsDeclaration(function))
    return;
  for (LLVMUseRef use = LLVMGetFirstUse(function); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef call = LLVMGetUser(use);
    if (LLVMIsACallInst(call) && LLVMGetCalledValue(call) == function &&
        LLVMGetNumArgOperands(call) == 1)
      replaceSize(module, ir, call);
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Links what is declared as `name` to another function. LLVM no longer knows
/// what it does, which is right: it may not return.
static void rename(LLVMModuleRef module, const char *name,
                   const char *replacement) {
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  if (function && LLVMIsDeclaration(function))
    LLVMSetValueName2(function, replacement, strlen(replacement));
}

void gqModuleHarden(LLVMModuleRef module) {
  LLVMBuilderRef ir = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function))
    replaceLoadsOfBool(ir, function);
  replaceSizes(module, ir, "malloc");
  // Where finalize-memref-to-llvm has generic functions.
  replaceSizes(module, ir, "_mlir_memref_to_llvm_alloc");
  LLVMDisposeBuilder(ir);
  rename(module, "malloc", GQ_HEAP_ALLOCATE_SYMBOL);
  rename(module, "free", GQ_HEAP_FREE_SYMBOL);
}
