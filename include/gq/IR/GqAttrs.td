//===- GqAttrs.td - attributes of the gq dialect ----------*- tablegen -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of the enumerations are those of gq/Runtime/Types.h.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_IR_ATTRS_TD
#define GQ_IR_ATTRS_TD

include "gq/IR/GqDialect.td"
include "gq/IR/GqFormats.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Gq_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::gq";
  let genSpecializedAttr = 0;
}

/// Printed with its parentheses, so that an op can write `format(nvfp4)`.
class Gq_EnumAttr<Gq_Enum enumInfo, string mnemonic>
    : EnumAttr<Gq_Dialect, enumInfo, mnemonic> {
  let assemblyFormat = "`(` custom<Keyword>($value) `)`";
}

def Gq_Format : Gq_Enum<"Format", "format", Gq_FormatCases>;
def Gq_FormatAttr : Gq_EnumAttr<Gq_Format, "format"> {
  let description = Gq_FormatTable # [{

    For a block with the largest magnitude A (ignoring NaN), in float32 with one
    rounding per operation, and codes rounded to nearest even and saturated:

    * `nvfp4`: see `RecipeAttr`.
    * `mxfp4`, `mxfp8_*`: the scale S is A * (1/max) rounded up to a power of
      two, max being the largest code; an element x becomes the code of x / S.
    * `fp8_*_1x128`, `fp8_*_128x128`: x becomes the code of x * s with
      s = max / A, at most the largest finite float32, or 1 if A is 0 or
      infinite; 1 / s is stored.
    * `fp8_e4m3`, `fp8_e5m2`: formats with one scale for a whole tensor, here for
      each group: x becomes the code of x * s. The scale s is an operand, or is
      computed from an amax operand as a block's scale is from A. Only
      `gq.grouped_quantize` and `gq.update_scales` take these; all other ops take
      formats with blocks.

    NaN becomes 6 in `f4E2M1FN` and 0x7F in the others.
  }];
}

def Gq_Recipe : Gq_Enum<"Recipe", "recipe", [
  I32EnumAttrCase<"NVFUSER", 0, "nvfuser">,
  I32EnumAttrCase<"TE", 1, "te">
]>;
def Gq_RecipeAttr : Gq_EnumAttr<Gq_Recipe, "recipe"> {
  let description = [{
    How the scale of an `nvfp4` block with the largest magnitude A is computed:

    * `nvfuser`: `S = e4m3(A/6 * g)` with the optional global encode scale g.
    * `te`: `S = e4m3(A * (g * (1/6)))` with `g = (6 * 448)/a` for the outer
      amax a, at most the largest finite float32, or 1 if a is 0 or infinite.

    With either, a code is `e2m1(x * inv)` with `inv = 1 / (S * (1/g))`; inv, and
    S before it is rounded, are clamped to the largest finite float32.
  }];
}

def Gq_ScaleLayout : Gq_Enum<"ScaleLayout", "scale_layout", [
  I32EnumAttrCase<"Linear", 0, "linear">,
  I32EnumAttrCase<"Tile128x4", 1, "tile128x4">
]>;
def Gq_ScaleLayoutAttr : Gq_EnumAttr<Gq_ScaleLayout, "scale_layout">;

def Gq_Major : Gq_Enum<"Major", "major", [
  I32EnumAttrCase<"K", 0, "k">,
  I32EnumAttrCase<"N", 1, "n">
]>;
def Gq_MajorAttr : Gq_EnumAttr<Gq_Major, "major"> {
  let description = [{
    Which extent of a matmul's weights is innermost in memory: `k`, the one that
    is summed over, or `n`, the other one.
  }];
}

def Gq_Pairs : Gq_Enum<"Pairs", "pairs", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Interleaved", 1, "interleaved">,
  I32EnumAttrCase<"Halves", 2, "halves">
]>;
def Gq_PairsAttr : Gq_EnumAttr<Gq_Pairs, "pairs"> {
  let description = [{
    Which two columns of a product the `epilogue` of `gq.grouped_mm` takes
    together, such as gate and up: 2j and 2j+1 (`interleaved`), or j and j + N/2
    (`halves`).
  }];
}

def Gq_Axis : Gq_Enum<"Axis", "axis", [
  I32EnumAttrCase<"Rowwise", 0, "rowwise">,
  I32EnumAttrCase<"Columnwise", 1, "columnwise">
]>;
def Gq_AxisAttr : Gq_EnumAttr<Gq_Axis, "axis"> {
  let description = [{
    The direction in which data was quantized, and so the form in which it is
    stored: that of the `outs` of `gq.grouped_block_quantize`, or that of its
    `columnwise_outs`.
  }];
}

def Gq_Rows : Gq_Enum<"Rows", "rows", [
  I32EnumAttrCase<"All", 0, "all">,
  I32EnumAttrCase<"Grouped", 1, "grouped">
]>;
def Gq_RowsAttr : Gq_EnumAttr<Gq_Rows, "rows"> {
  let description = [{
    With `all`, the rowwise data of rows in no group is quantized too, as
    `gq.block_quantize` would; with `grouped` it is left alone. Scales of such
    rows are never written, and columnwise data, amax and dbias cover only rows
    in groups.
  }];
}

def Gq_AmaxAlgo : Gq_Enum<"AmaxAlgo", "amax_algo", [
  I32EnumAttrCase<"Max", 0, "max">,
  I32EnumAttrCase<"MostRecent", 1, "most_recent">
]>;
def Gq_AmaxAlgoAttr : Gq_EnumAttr<Gq_AmaxAlgo, "amax_algo"> {
  let description = [{
    Which amax of a history `gq.update_scales` computes a scale from: the
    largest one, `max`, or the latest, `most_recent`.
  }];
}

def Gq_Rounding : Gq_Enum<"Rounding", "rounding", [
  I32EnumAttrCase<"Nearest", 0, "nearest">,
  I32EnumAttrCase<"Stochastic", 1, "stochastic">
]>;
def Gq_Transform : Gq_Enum<"Transform", "transform", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Hadamard16", 1, "hadamard16">
]>;
def Gq_Outer : Gq_Enum<"Outer", "outer", [
  I32EnumAttrCase<"Group", 0, "group">,
  I32EnumAttrCase<"Row", 1, "row">,
  I32EnumAttrCase<"Column", 2, "column">
]>;
def Gq_OuterAttr : Gq_EnumAttr<Gq_Outer, "outer"> {
  let description = [{
    What there is an outer amax for: a `group`, or all of them if it is a scalar,
    each `row`, or each `column` of a group.
  }];
}
def Gq_FourOverSix : Gq_Enum<"FourOverSix", "four_over_six", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"MAE", 1, "mae">,
  I32EnumAttrCase<"MSE", 2, "mse">
]>;

def Gq_DirectionAttr : AttrDef<Gq_Dialect, "Direction"> {
  let mnemonic = "direction";
  let summary = "How one direction differs from the default";
  let description = [{
    Each part is optional:

    * `rounding`: how an element becomes a code: `nearest`, ties to even, or
      `stochastic`, up or down by 8 random bits of Philox4x32-10 for each
      element. The bits are a pure function of `rng_state`, the direction and the
      position of the block, so they depend neither on the device nor on how rows
      are gathered nor, in blocks along rows, on how these are split into groups.
    * `transform`: what is applied to the elements of a block first: `none`, or
      `hadamard16`, a Hadamard transform of the 16 rows of a column, divided by 4
      and rounded to bf16. Before it, row i of a block changes its sign if bit i
      of `signs` is 1; without `signs` no row does. Missing rows of a block count
      as 0, and all 16 of its results are stored. The outer amax is that of the
      transformed elements.
    * `block`: the rows and columns of the matrix that share a scale: those of
      the format, or `16x16`, counted from the first row of a group. Scales are
      stored as if each row had its own, and both directions have the same codes
      if both have such blocks.
    * `outer`: what an outer amax applies to: a `group` (or all rows, if it is a
      scalar), a `row`, or a `column` of a group.
    * `four_over_six`: with `mae` or `mse` two scales are tried for each block,
      one that maps its largest magnitude to 6 and one that maps it to 4; the one
      with the smaller sum of absolute or squared errors is taken. The outer
      scale is then `6 * scale_max / a`, where `scale_max` is 448 (the default)
      or 256.

    ```mlir
    #gq.direction<rounding = stochastic, transform = hadamard16, signs = 0xD7E8>
    #gq.direction<block = 16x16, four_over_six = mse, scale_max = 256>
    #gq.direction<outer = row>
    ```
  }];
  let parameters = (ins
    OptionalParameter<"std::optional<::gq::Rounding>">:$rounding,
    OptionalParameter<"std::optional<::gq::Transform>">:$transform,
    OptionalParameter<"std::optional<uint32_t>">:$signs,
    OptionalArrayRefParameter<"int64_t">:$block,
    OptionalParameter<"std::optional<::gq::Outer>">:$outer,
    OptionalParameter<"std::optional<::gq::FourOverSix>">:$four_over_six,
    OptionalParameter<"std::optional<uint32_t>">:$scale_max);
  let hasCustomAssemblyFormat = 1;
}

def Gq_MmKernel : Gq_Enum<"MmKernel", "mm_kernel", [
  I32EnumAttrCase<"Auto", 0, "auto">,
  I32EnumAttrCase<"Any", 1, "any">,
  I32EnumAttrCase<"Decode8", 2, "decode8">,
  I32EnumAttrCase<"Decode16", 3, "decode16">,
  I32EnumAttrCase<"Tiles32", 4, "tiles32">,
  I32EnumAttrCase<"Tiles64", 5, "tiles64">,
  I32EnumAttrCase<"Tiles128", 6, "tiles128">,
  I32EnumAttrCase<"Tiles256", 7, "tiles256">
]>;
def Gq_MmKernelAttr : Gq_EnumAttr<Gq_MmKernel, "mm_kernel"> {
  let description = [{
    The GPU kernel of `gq.grouped_mm`, and of `gq.grouped_wgrad`, which has `any`
    and `tiles128` only. Each gives the same bits in every run; which one is
    fast depends on the rows per group:

    | kernel | made for |
    |---|---|
    | `decode8`, `decode16` | up to that many rows per group: the weights are read once, nearly at the memory's speed |
    | `tiles32`, `tiles64`, `tiles128` | tiles of that many rows: tensor cores of sm_90a (wgmma), no workspace. `nvfp4` is multiplied as f16 and MX formats as bf16: elements times scales are exact, but for what bf16 cannot represent, below 2^-133 or from 2^128 on. Codes of `fp8_*` and of no format are multiplied as such by tensor cores that keep about 14 bits of a sum of 32 products; sums of 128 are added up in float32. Where that is not precise enough, use `decode16` |
    | `tiles256` | never chosen by itself: tiles of 256 rows, which some warps write as f16 or bf16 to a workspace while others multiply: 2 bytes an element of `a`, and a little more, that `convert-gq-to-gpu` allocates (of static size if M, K and the number of groups are). From 256 rows per group on mostly faster than `tiles128`, with `nvfp4` up to 1.14 times. The same numbers, but for the order of sums. `fp8_*` and no format have nothing to dequantize: there it is `tiles128` |
    | `any` | K not a multiple of 32, `b_major(n)`, unaligned addresses, other chips |
    | `auto` | replaced by `gq-choose-kernels` |
  }];
}

def Gq_Tile128x4Attr : AttrDef<Gq_Dialect, "Tile128x4"> {
  let mnemonic = "tile128x4";
  let summary = "Encoding of a tensor of scales in tiles of 128 rows by 4";
}

#endif // GQ_IR_ATTRS_TD
