//===- GqDialect.td - the gq dialect ----------------------*- tablegen -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_IR_DIALECT_TD
#define GQ_IR_DIALECT_TD

include "mlir/IR/OpBase.td"

def Gq_Dialect : Dialect {
  let name = "gq";
  let cppNamespace = "::gq";
  let summary = "Grouped block quantization";
  let description = [{
    Ops that quantize activations block by block, group by group, and hand the
    block scales to a grouped matmul in the layout that its tensor cores read.
    A *group* is a range of consecutive rows that belong to one expert of a
    Mixture-of-Experts layer.

    All ops are in destination-passing style. On tensors, each result is tied to
    the operand of `outs` at its position; on memrefs they have no results and
    write their `outs`.

    **Effects.** On tensors the ops have no effects, although they can fail: the
    contents of offsets or row indices, or dynamic extents, may turn out to be
    wrong when the op runs, which then leaves a status. As with a division,
    failing is not an effect. An op whose results are unused is erased, and its
    failure with it; equal ops are merged, and fail once. But no op runs where
    the program would not run it, such as before a loop with no iterations,
    unless it cannot fail: `gq.block_quantize`, `gq.block_dequantize` without an
    `epilogue` and `gq.update_scales` on static extents, and `gq.block_quantize`
    to blocks of one row where `outs` are `tensor.empty` of as many rows as the
    input. On memrefs the ops read all
    operands and write their `outs`.

    **Groups.** `offsets` holds G+1 row starts, the last of which bounds the
    last group, or G row starts, in which case the last group runs to the last
    row. `scale_offsets` holds, for each group, its first row in the padded
    scales. Both are `i32` or `i64`. Contents that do not describe groups are an
    error at run time; they never cause an access out of bounds. On the CPU
    nothing is written then. A GPU does not wait to look at them: the status
    reports it later, and in every format, direction and layout

    - a group is skipped if its rows are not 0 <= begin <= end <= M, if its
      extents do not fit between its offsets (ragged groups), or if its tiles of
      scales do not begin at a multiple of 128 or lie outside of the scales.
      Where an output packs groups without gaps, a group that does not fit into
      it is skipped, and so are all later groups that have rows;
    - nothing of a skipped group is written, even with `rows(all)`, except its
      `amax` and `dbias`, which are 0. Where groups are packed it counts as
      empty;
    - all other groups and rows are written as always. Where decreasing offsets
      give a row to several groups, or tiles of scales overlap, any one of them
      may determine what is written; if such groups together have more tiles
      than M rows in G groups can have, some are left out.

    **Memory.** What an op writes shares no byte with any other operand: an op
    may read an operand again after checking it. Inputs that are only read may
    overlap, and so may the address ranges of rows that lie in each other's
    gaps, as two ranges of columns of one matrix do. On tensors, bufferization
    takes care of this; overlapping buffers are an error at run time, and the op
    then writes nothing.

    **Packed data.** f4 data is `[M, K]` of `f4E2M1FN` or, as it is stored,
    `[M, K/2]` of `i8`: two codes per byte, the even index in the low nibble.
    `gq-pack-subbyte` turns the former into the latter.

    **Scale layouts.** The layout of a tensor of scales is part of its type, as
    its encoding: no encoding means linear, `#gq.tile128x4` means tiled. It is
    also an attribute of every op, because memrefs have no encoding. In
    `tile128x4` the scale of row r of a group (counted from the group's first
    row) and scale column c is at byte

    ```
    scale_offsets[e]*P + (r/128)*128*P + (c/4)*512
      + (r%32)*16 + ((r%128)/32)*4 + c%4        P = number of columns, K/block
                                                    rounded up to 4
    ```

    Each group is padded to 128 rows and 4 columns; padding is zero.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

#endif // GQ_IR_DIALECT_TD
