//===- Sharding.cpp - upstream's ShardingInterface --------------*- C++ -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR has no C API for this interface. What can be split is in Sharding.c.
//
//===----------------------------------------------------------------------===//

#include "Sharding.h"
#include "gq/IR/Gq.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterface.h"
#include "mlir/Dialect/Shard/Interfaces/ShardingInterfaceImpl.h"

using namespace mlir;

/// The loops along the dimensions of an operand.
static AffineMap getMap(Operation *op, unsigned operand) {
  SmallVector<unsigned> loops;
  auto type = cast<ShapedType>(op->getOperand(operand).getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    loops.push_back(gqLoopOf(wrap(op), operand, dim));
  return AffineMap::getMultiDimMapWithTargets(gqNumLoops(wrap(op)), loops,
                                              op->getContext());
}

namespace {
template <typename OpTy>
struct Sharding
    : shard::ShardingInterface::ExternalModel<Sharding<OpTy>, OpTy> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return SmallVector<utils::IteratorType>(gqNumLoops(wrap(op)),
                                            utils::IteratorType::parallel);
  }

  /// A result goes along what its operand of `outs` does; these come last.
  SmallVector<AffineMap> getIndexingMaps(Operation *op) const {
    SmallVector<AffineMap> maps;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      maps.push_back(getMap(op, i));
    SmallVector<AffineMap> outs(
        ArrayRef<AffineMap>(maps).take_back(op->getNumResults()));
    maps.append(outs);
    return maps;
  }

  /// What has to be whole is made whole before the op.
  FailureOr<shard::ShardingOption>
  getShardingOption(Operation *op, ArrayRef<shard::Sharding> operands,
                    ArrayRef<shard::Sharding> results) const {
    auto option =
        shard::detail::defaultGetShardingOption(op, operands, results);
    if (failed(option) || option->empty)
      return option;
    shard::ShardingArray &loops = option->shardingArray;
    loops.resize(std::min<size_t>(loops.size(), GQ_NUM_SHARED_LOOPS));
    shard::removeTrailingEmptySubArray(loops);
    return option;
  }

  LogicalResult partition(Operation *op, ArrayRef<Value> operands,
                          ArrayRef<shard::Sharding> operandShardings,
                          ArrayRef<shard::Sharding> resultShardings,
                          IRMapping &map, SymbolTableCollection &symbols,
                          OpBuilder &builder) const {
    for (auto [i, sharding] : llvm::enumerate(operandShardings))
      for (auto [dim, axes] : llvm::enumerate(sharding.getSplitAxes()))
        if (!axes.empty() && gqLoopOf(wrap(op), i, dim) >= GQ_NUM_SHARED_LOOPS)
          return op->emitOpError("requires dimension ")
                 << dim << " of operand " << i << " to be whole on each device";
    // A result without uses has no annotation, but its operand of `outs` has.
    std::vector<shard::Sharding> outs =
        operandShardings.take_back(op->getNumResults()).vec();
    for (auto [i, sharding] : llvm::enumerate(resultShardings))
      if (sharding)
        outs[i] = sharding;
    shard::partitionTriviallyShardableOperation(*op, operands, operandShardings,
                                                outs, map, symbols, builder);
    return success();
  }
};
} // namespace

void gq::attachSharding(MLIRContext *context) {
#define GQ_OP(OP, MNEMONIC) OP##Op::attachInterface<Sharding<OP##Op>>(*context);
#include "gq/Runtime/Ops.def"
}
