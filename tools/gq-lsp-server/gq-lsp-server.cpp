//===- gq-lsp-server.cpp - mlir-lsp-server with gq --------------*- C++ -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq-c/Dialect.h"

#include "mlir/CAPI/IR.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__gq__(), wrap(&registry));
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
