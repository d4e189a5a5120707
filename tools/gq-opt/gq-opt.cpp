//===- gq-opt.cpp - mlir-opt with gq ----------------------------*- C++ -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq-c/Dialect.h"
#include "gq-c/Passes.h"

#include "mlir/CAPI/IR.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  gqRegisterPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllGPUToLLVMIRTranslations(registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__gq__(), wrap(&registry));
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "gq optimizer driver: mlir-opt with gq\n", registry));
}
