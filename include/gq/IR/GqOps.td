//===- GqOps.td - ops of the gq dialect -------------------*- tablegen -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each description lists the op's constraints as (C1), (C2)...; the check in
// lib/IR and the negative test carry the same number. (C1) to (C3) are the type
// constraints below and the interface of destination-passing ops.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_IR_OPS_TD
#define GQ_IR_OPS_TD

include "gq/IR/GqAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Operand types
//===----------------------------------------------------------------------===//

/// A ranked tensor or memref of one of `elements` with one of `ranks`.
class Gq_Shaped<list<Type> elements, list<int> ranks>
    : AnyTypeOf<[TensorRankOf<elements, ranks>, MemRefRankOf<elements, ranks>]>;

def Gq_Float2D : Gq_Shaped<[F32, BF16, F16], [2]>;
def Gq_ProducerInput : Gq_Shaped<[F32, BF16, F16], [0, 1, 2]>;
def Gq_Data2D : Gq_Shaped<[F4E2M1FN, I8], [2]>;
def Gq_Data3D : Gq_Shaped<[F4E2M1FN, I8], [3]>;
def Gq_Scales2D : Gq_Shaped<[F8E4M3FN], [2]>;
def Gq_Scales3D : Gq_Shaped<[F8E4M3FN], [3]>;
def Gq_Offsets : Gq_Shaped<[I32, I64], [1]>;
def Gq_RowIndices : Gq_Shaped<[I32, I64], [1]>;
def Gq_F32Scalar : Gq_Shaped<[F32], [0]>;
def Gq_F32ScalarOr1D : Gq_Shaped<[F32], [0, 1]>;
def Gq_F32_1D : Gq_Shaped<[F32], [1]>;

//===----------------------------------------------------------------------===//
// Base class
//===----------------------------------------------------------------------===//

/// A destination-passing op; `numInits` operands, the last ones, are its outs.
class Gq_Op<string mnemonic, int numInits, list<Trait> traits = []>
    : Op<Gq_Dialect, mnemonic,
         !listconcat([DestinationStyleOpInterface,
                      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>],
                     traits)> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(
          getOperation(), getNumOperands() - }] # numInits # [{, }] #
          numInits # [{);
    }
  }];
}

defvar sharedConstraints = [{

    Constraints (an extent that one operand leaves dynamic, others may give):
    * (C1) Operands have the element types and ranks listed below.
    * (C2) Results are the types of `outs` where those are tensors; there are
      none where they are memrefs.
    * (C3) Operands are all tensors or all memrefs.
    * (C4) K is a positive multiple of the format's block size.}];

//===----------------------------------------------------------------------===//
// block_quantize
//===----------------------------------------------------------------------===//

def Gq_BlockQuantizeOp : Gq_Op<"block_quantize", 2> {
  let summary = "Quantize blocks of consecutive elements of each row";
  let description = !strconcat([{
    Quantizes `[M, K]` to data and linear scales `[M, K/block]`. A global
    scale, where given, multiplies every scale (see `FormatAttr`).

    ```mlir
    %q, %s = gq.block_quantize format(nvfp4)
        ins(%x : tensor<?x5120xbf16>)
        outs(%q0, %s0 : tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN>)
        -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN>
    ```}], sharedConstraints, [{
    * (C5) `data` is `[M, K]` of f4 or `[M, K/2]` of i8.
    * (C6) `scales` is `[M, K/block]`.
    * (C7) `scale_layout` is `linear`, and no tensor has an encoding.
    * (C8) Memrefs have an innermost stride of 1.

    With M = 0 the op folds to its `outs`.
  }]);
  let arguments = (ins
    Gq_FormatAttr:$format,
    DefaultValuedAttr<Gq_ScaleLayoutAttr, "::gq::ScaleLayout::Linear">
      :$scale_layout,
    Gq_Float2D:$input,
    Optional<Gq_F32Scalar>:$global_scale,
    Gq_Data2D:$data,
    Gq_Scales2D:$scales);
  let assemblyFormat = [{
    `format` `` $format (`scale_layout` `` $scale_layout^)? attr-dict
    `ins` `(` $input `:` type($input) `)`
    (`global_scale` `(` $global_scale^ `:` type($global_scale) `)`)?
    `outs` `(` $data `,` $scales `:` type($data) `,` type($scales) `)`
    (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// preprocess_grouped_matmul_sf
//===----------------------------------------------------------------------===//

def Gq_PreprocessGroupedMatmulSfOp : Gq_Op<"preprocess_grouped_matmul_sf", 1> {
  let summary = "Lay out linear scales as a grouped matmul reads them";
  let description = !strconcat([{
    Copies the scales `[M, K/block]` of each group to its own tiles, padding
    every group to 128 rows and 4 columns with zeros. Scales of rows in no group
    are dropped; bytes between groups come through from `outs`.

    ```mlir
    %t = gq.preprocess_grouped_matmul_sf format(nvfp4)
        ins(%s : tensor<?x320xf8E4M3FN>)
        groups(%offsets, %sf_offsets : tensor<129xi32>, tensor<128xi32>)
        outs(%t0 : tensor<?x320xf8E4M3FN, #gq.tile128x4>)
        -> tensor<?x320xf8E4M3FN, #gq.tile128x4>
    ```

    K/block is the number of columns of `input`.}], sharedConstraints, [{
    * (C5) `scale_offsets` holds G entries, `offsets` G or G+1, of the same
      element type.
    * (C6) `scales` is `[rows, K/block rounded up to 4]` with rows a multiple
      of 128.
    * (C7) `scale_layout` is `tile128x4`, and so is the encoding of `scales`; no
      other tensor has one.
    * (C8) Memrefs have an innermost stride of 1; `offsets`, `scale_offsets` and
      `scales` are contiguous.

    With M = 0 the op folds to its `outs`.
  }]);
  let arguments = (ins
    Gq_FormatAttr:$format,
    DefaultValuedAttr<Gq_ScaleLayoutAttr, "::gq::ScaleLayout::Tile128x4">
      :$scale_layout,
    Gq_Scales2D:$input,
    Gq_Offsets:$offsets,
    Gq_Offsets:$scale_offsets,
    Gq_Scales2D:$scales);
  let assemblyFormat = [{
    `format` `` $format (`scale_layout` `` $scale_layout^)? attr-dict
    `ins` `(` $input `:` type($input) `)`
    `groups` `(` $offsets `,` $scale_offsets `:`
                 type($offsets) `,` type($scale_offsets) `)`
    `outs` `(` $scales `:` type($scales) `)`
    (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// grouped_block_quantize
//===----------------------------------------------------------------------===//

def Gq_GroupedBlockQuantizeOp
    : Gq_Op<"grouped_block_quantize", 2,
            [AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock]> {
  let summary = "Quantize rows and lay out their scales group by group";
  let description = !strconcat([{
    `gq.block_quantize` and `gq.preprocess_grouped_matmul_sf` in one: the
    linear scales never exist. The global scale is one for all rows, or one a
    group; with one a group, rows in no group are quantized without it.

    ```mlir
    %q, %sf = gq.grouped_block_quantize format(nvfp4)
        ins(%x : tensor<?x5120xbf16>)
        groups(%offsets, %sf_offsets : tensor<129xi32>, tensor<128xi32>)
        outs(%q0, %sf0 : tensor<?x5120xf4E2M1FN>,
                         tensor<?x320xf8E4M3FN, #gq.tile128x4>)
        -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
    ```

    What is quantized may be computed from several inputs, element by element,
    by the optional region `producer`. `maps` then says which element of each
    input belongs to the element (m, k): the identity, a broadcast of a column
    `(m, k) -> (m)` or of a row `(m, k) -> (k)`, or a scalar `(m, k) -> ()`. The
    value that the region yields is quantized in the precision of its type.

    ```mlir
    %q, %sf = gq.grouped_block_quantize format(nvfp4)
        ins(%x, %bias : tensor<?x64xbf16>, tensor<64xf32>)
        maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>]
        groups(%offsets, %sf_offsets : tensor<9xi32>, tensor<8xi32>)
        outs(%q0, %sf0 : tensor<?x64xf4E2M1FN>,
                         tensor<?x4xf8E4M3FN, #gq.tile128x4>)
        -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
        producer {
        ^bb0(%e: bf16, %b: f32):
          %f = arith.extf %e : bf16 to f32
          %s = arith.addf %f, %b : f32
          gq.yield %s : f32
        }
    ```

    With `row_indices`, row m is that of another row of the input, as tokens are
    permuted by expert: row `row_indices[m]` of `[N, K]`. The sorted rows are
    never stored. With a `producer`, each input is read by row or by index: that
    index is the symbol r of its map, `(m, k)[r] -> (r, k)` or
    `(m, k)[r] -> (r)`. Every index must lie in [0, N), also those of rows in no
    group. On the CPU another one is an error; on a GPU all gathered elements of
    its row are zero.

    ```mlir
    %q, %sf = gq.grouped_block_quantize format(nvfp4)
        ins(%tokens : tensor<?x5120xbf16>) row_indices(%idx : tensor<?xi32>)
        groups(%offsets, %sf_offsets : tensor<129xi32>, tensor<128xi32>)
        outs(%q0, %sf0 : tensor<?x5120xf4E2M1FN>,
                         tensor<?x320xf8E4M3FN, #gq.tile128x4>)
        -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
    ```

    `data` is `[M, K]` of f4 or `[M, K/2]` of i8.}], sharedConstraints, [{
    * (C5) `scale_offsets` holds G entries, `offsets` G or G+1, of the same
      element type.
    * (C6) `global_scale`, if of rank 1, holds G entries.
    * (C7) Without `producer` there is one input, `[M, K]` or, with
      `row_indices`, `[N, K]`, and no `maps`.
    * (C8) `scales` is `[rows, K/block rounded up to 4]` with rows a multiple
      of 128.
    * (C9) `scale_layout` is `tile128x4`, and so is the encoding of `scales`; no
      other tensor has one.
    * (C10) Memrefs have an innermost stride of 1; `row_indices`, `offsets`,
      `scale_offsets`, `global_scale` and `scales` are contiguous.
    * (C11) With `producer` there are up to 8 inputs, and each has one of the
      maps above and the extents that it asks for.
    * (C12) `producer` takes the elements of the inputs and yields one `f32`,
      `bf16` or `f16`.
    * (C13) `row_indices` holds M entries.
    * (C14) With `producer`, one of `maps` has the symbol r if there are
      `row_indices`, and none if not.
    * (C15) Inputs read by index have the same number N of rows.

    With M = 0 the op folds to its `outs`.
  }]);
  let arguments = (ins
    Gq_FormatAttr:$format,
    DefaultValuedAttr<Gq_ScaleLayoutAttr, "::gq::ScaleLayout::Tile128x4">
      :$scale_layout,
    DefaultValuedAttr<Gq_RowsAttr, "::gq::Rows::All">:$rows,
    OptionalAttr<AffineMapArrayAttr>:$maps,
    Variadic<Gq_ProducerInput>:$inputs,
    Optional<Gq_RowIndices>:$row_indices,
    Gq_Offsets:$offsets,
    Gq_Offsets:$scale_offsets,
    Optional<Gq_F32ScalarOr1D>:$global_scale,
    Gq_Data2D:$data,
    Gq_Scales2D:$scales);
  // Variadic: a region that is there but empty would have no block to verify.
  let regions = (region VariadicRegion<SizedRegion<1>>:$producer);
  let assemblyFormat = [{
    `format` `` $format
    (`scale_layout` `` $scale_layout^)? (`rows` `` $rows^)? attr-dict
    `ins` `(` $inputs `:` type($inputs) `)`
    (`row_indices` `(` $row_indices^ `:` type($row_indices) `)`)?
    (`maps` $maps^)?
    `groups` `(` $offsets `,` $scale_offsets `:`
                 type($offsets) `,` type($scale_offsets) `)`
    (`global_scale` `(` $global_scale^ `:` type($global_scale) `)`)?
    `outs` `(` $data `,` $scales `:` type($data) `,` type($scales) `)`
    (`->` type($results)^)?
    (`producer` $producer^)?
  }];
}

def Gq_YieldOp : Op<Gq_Dialect, "yield", [
    Pure, Terminator, ReturnLike, HasParent<"GroupedBlockQuantizeOp">]> {
  let summary = "The element that a producer computes";
  let arguments = (ins AnyTypeOf<[F32, BF16, F16]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// grouped_mm
//===----------------------------------------------------------------------===//

def Gq_GroupedMmOp : Gq_Op<"grouped_mm", 1> {
  let summary = "Multiply the rows of each group by its own weights";
  let description = !strconcat([{
    For each row i of group e,
    `out[i, n] = alpha[e] * sum_k deq(a)[i, k] * deq(b[e])[n, k]`, where deq
    multiplies a code by its block's scale; without `alpha` the factor is 1.
    Sums are kept in float32 or wider and rounded once to the type of `out`.
    Rows in no group come through from `outs`.

    ```mlir
    %c = gq.grouped_mm format(nvfp4)
        ins(%a, %b : tensor<?x5120xf4E2M1FN>, tensor<128x8192x5120xf4E2M1FN>)
        scales(%sa, %sb : tensor<?x320xf8E4M3FN, #gq.tile128x4>,
                          tensor<128x8192x320xf8E4M3FN, #gq.tile128x4>)
        groups(%offsets, %sf_offsets : tensor<129xi32>, tensor<128xi32>)
        outs(%c0 : tensor<?x8192xbf16>) -> tensor<?x8192xbf16>
    ```

    `a` is `[M, K]` of f4 or `[M, K/2]` of i8.}], sharedConstraints, [{
    * (C5) `b` is `[G, N, K]` of f4 or `[G, N, K/2]` of i8.
    * (C6) `a_scales` is `[rows, K/block rounded up to 4]` with rows a multiple
      of 128.
    * (C7) `b_scales` is `[G, N rounded up to 128, K/block rounded up to 4]`.
    * (C8) `scale_layout` is `tile128x4`, and so are the encodings of `a_scales`
      and `b_scales`; no other tensor has one.
    * (C9) `scale_offsets` holds G entries, `offsets` G or G+1, of the same
      element type.
    * (C10) `alpha` holds G entries.
    * (C11) `out` is `[M, N]`.
    * (C12) Memrefs have an innermost stride of 1; all but `a` and `out` are
      contiguous.

    With M = 0 the op folds to its `outs`.
  }]);
  let arguments = (ins
    Gq_FormatAttr:$format,
    DefaultValuedAttr<Gq_ScaleLayoutAttr, "::gq::ScaleLayout::Tile128x4">
      :$scale_layout,
    Gq_Data2D:$a,
    Gq_Data3D:$b,
    Gq_Scales2D:$a_scales,
    Gq_Scales3D:$b_scales,
    Gq_Offsets:$offsets,
    Gq_Offsets:$scale_offsets,
    Optional<Gq_F32_1D>:$alpha,
    Gq_Float2D:$out);
  let assemblyFormat = [{
    `format` `` $format (`scale_layout` `` $scale_layout^)? attr-dict
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)`
    `scales` `(` $a_scales `,` $b_scales `:`
                 type($a_scales) `,` type($b_scales) `)`
    `groups` `(` $offsets `,` $scale_offsets `:`
                 type($offsets) `,` type($scale_offsets) `)`
    (`alpha` `(` $alpha^ `:` type($alpha) `)`)?
    `outs` `(` $out `:` type($out) `)`
    (`->` type($results)^)?
  }];
}

#endif // GQ_IR_OPS_TD
