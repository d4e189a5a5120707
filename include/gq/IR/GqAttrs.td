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
  let assemblyFormat = "`(` $value `)`";
}

def Gq_Format : Gq_Enum<"Format", "format", [
  I32EnumAttrCase<"NVFP4", 0, "nvfp4">
]>;
def Gq_FormatAttr : Gq_EnumAttr<Gq_Format, "format"> {
  let description = [{
    | format | data | block | scale |
    |---|---|---|---|
    | `nvfp4` | `f4E2M1FN` | 16 | `f8E4M3FN` |

    For a block with the largest magnitude A, and the optional global encode
    scale g, in float32 with one rounding per operation: the scale is
    `S = e4m3(A/6 * g)`, a code is `e2m1(x * inv)` with
    `inv = 1 / (S * (1/g))`, both clamped to the largest finite float32.
  }];
}

def Gq_ScaleLayout : Gq_Enum<"ScaleLayout", "scale_layout", [
  I32EnumAttrCase<"Linear", 0, "linear">,
  I32EnumAttrCase<"Tile128x4", 1, "tile128x4">
]>;
def Gq_ScaleLayoutAttr : Gq_EnumAttr<Gq_ScaleLayout, "scale_layout">;

def Gq_Rows : Gq_Enum<"Rows", "rows", [
  I32EnumAttrCase<"All", 0, "all">,
  I32EnumAttrCase<"Grouped", 1, "grouped">
]>;
def Gq_RowsAttr : Gq_EnumAttr<Gq_Rows, "rows"> {
  let description = [{
    With `all`, the data of rows in no group is quantized too, as
    `gq.block_quantize` would; with `grouped` it is left alone. Scales of such
    rows are never written.
  }];
}

def Gq_Tile128x4Attr : AttrDef<Gq_Dialect, "Tile128x4"> {
  let mnemonic = "tile128x4";
  let summary = "Encoding of a tensor of scales in tiles of 128 rows by 4";
}

#endif // GQ_IR_ATTRS_TD
