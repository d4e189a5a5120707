//===- classes.cpp - the dialect's classes in C++ ---------------*- C++ -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the dialect, builds an op by its class, finds it by its class,
// reads it, and has a wrong one refused.
//
//===----------------------------------------------------------------------===//

#include "gq/IR/Gq.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

/// Has a block_quantize of `scaleColumns` columns of scales at the end of
/// `body`.
static gq::BlockQuantizeOp build(OpBuilder &builder, Block *body,
                                 int64_t scaleColumns) {
  Location loc = builder.getUnknownLoc();
  Type types[] = {
      RankedTensorType::get({8, 64}, builder.getBF16Type()),
      RankedTensorType::get({8, 64}, builder.getType<Float4E2M1FNType>()),
      RankedTensorType::get({8, scaleColumns},
                            builder.getType<Float8E4M3FNType>())};
  SmallVector<Value> operands;
  for (Type type : types)
    operands.push_back(body->addArgument(type, loc));
  builder.setInsertionPoint(body, body->begin());
  return gq::BlockQuantizeOp::create(
      builder, loc, TypeRange{types[1], types[2]}, gq::Format::NVFP4,
      gq::ScaleLayout::Linear, operands[0], /*global_scale=*/Value(),
      operands[1], operands[2]);
}

int main() {
  DialectRegistry registry;
  registry.insert<gq::GqDialect, func::FuncDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>("func.func @f() {\n  return\n}\n", &context);
  auto function = cast<func::FuncOp>(module->getBody()->front());
  OpBuilder builder(&context);

  build(builder, &function.front(), 4);
  function.setType(
      builder.getFunctionType(function.front().getArgumentTypes(), {}));
  if (failed(verify(*module)))
    return 1;
  int found = 0;
  module->walk([&](gq::BlockQuantizeOp op) {
    found += op.getFormat() == gq::Format::NVFP4 &&
             op.getFormatAttr() ==
                 gq::FormatAttr::get(&context, gq::Format::NVFP4) &&
             op.getInput() == function.getArgument(0);
  });
  auto encoding = gq::Tile128x4Attr::get(&context);
  if (parseAttribute("#gq.tile128x4", &context) != encoding)
    return 2;
  module->print(llvm::outs());

  // Of 64 columns there are four scales, not three.
  gq::BlockQuantizeOp wrong = build(builder, &function.front(), 3);
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  return found == 1 && failed(verify(wrong)) ? 0 : 3;
}
