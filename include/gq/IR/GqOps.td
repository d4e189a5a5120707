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
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Operand types
//===----------------------------------------------------------------------===//

/// An element type and its name in MLIR.
class Gq_Element<Type elementType, string typeName> {
  Type type = elementType;
  string name = typeName;
}
def Gq_F32 : Gq_Element<F32, "f32">;
def Gq_BF16 : Gq_Element<BF16, "bf16">;
def Gq_F16 : Gq_Element<F16, "f16">;
def Gq_F4E2M1FN : Gq_Element<F4E2M1FN, "f4E2M1FN">;
def Gq_F8E4M3FN : Gq_Element<F8E4M3FN, "f8E4M3FN">;
def Gq_F8E5M2 : Gq_Element<F8E5M2, "f8E5M2">;
def Gq_F8E8M0FNU : Gq_Element<F8E8M0FNU, "f8E8M0FNU">;
def Gq_I8 : Gq_Element<I8, "i8">;
def Gq_I32 : Gq_Element<I32, "i32">;
def Gq_I64 : Gq_Element<I64, "i64">;

/// Such as "a, b or c".
class Gq_Or<list<string> words> {
  string text = !foldl("", !range(!size(words)), joined, i, joined #
      !cond(!eq(i, 0): "",
            !eq(i, !sub(!size(words), 1)): " or ",
            true: ", ") # words[i]);
}

/// A ranked tensor or memref of one of `elements` with one of `ranks`. A C++
/// function of the constraint's name tells, `gq::isScales` of `Gq_Scales`.
class Gq_Shaped<list<Gq_Element> elements, list<int> ranks>
    : Type<AnyTypeOf<[
             TensorRankOf<!foreach(e, elements, e.type), ranks>,
             MemRefRankOf<!foreach(e, elements, e.type), ranks>]>.predicate,
           Gq_Or<!foreach(rank, ranks, rank # "D")>.text #
           " tensor or memref of " # Gq_Or<!foreach(e, elements, e.name)>.text> {
  let cppFunctionName = "is" # !subst("Gq_", "", NAME);
}

defvar floatTypes = [Gq_F32, Gq_BF16, Gq_F16];
/// i8 stands for two codes of f4.
defvar dataTypes = [Gq_F4E2M1FN, Gq_I8, Gq_F8E4M3FN, Gq_F8E5M2];
defvar scaleTypes = [Gq_F8E4M3FN, Gq_F8E8M0FNU, Gq_F32];
def Gq_Float2D : Gq_Shaped<floatTypes, [2]>;
def Gq_Input : Gq_Shaped<floatTypes, [0, 1, 2]>;
def Gq_Data : Gq_Shaped<dataTypes, [1, 2]>;
def Gq_DataOrFloat : Gq_Shaped<!listconcat(dataTypes, floatTypes), [1, 2]>;
def Gq_Data2D : Gq_Shaped<dataTypes, [2]>;
def Gq_Data3D : Gq_Shaped<dataTypes, [3]>;
def Gq_Scales : Gq_Shaped<scaleTypes, [1, 2]>;
def Gq_Scales1D : Gq_Shaped<scaleTypes, [1]>;
def Gq_Scales2D : Gq_Shaped<scaleTypes, [2]>;
def Gq_Scales3D : Gq_Shaped<scaleTypes, [3]>;
def Gq_Indices : Gq_Shaped<[Gq_I32, Gq_I64], [1]>;
def Gq_F32Scalar : Gq_Shaped<[Gq_F32], [0]>;
def Gq_F32ScalarOr1D : Gq_Shaped<[Gq_F32], [0, 1]>;
def Gq_F32UpTo2D : Gq_Shaped<[Gq_F32], [0, 1, 2]>;
def Gq_RngState : Gq_Shaped<[Gq_I64], [1]>;
def Gq_I32Scalar : Gq_Shaped<[Gq_I32], [0]>;
def Gq_F32_1D : Gq_Shaped<[Gq_F32], [1]>;
def Gq_F32_2D : Gq_Shaped<[Gq_F32], [2]>;
def Gq_Float1DOr2D : Gq_Shaped<floatTypes, [1, 2]>;
def Gq_Float3D : Gq_Shaped<floatTypes, [3]>;

//===----------------------------------------------------------------------===//
// Base class
//===----------------------------------------------------------------------===//

/// Operands are verified before anything else is, with messages that name them,
/// which those that ODS generates do not.
def Gq_OperandTypes : NativeOpTrait<"OperandTypes">, StructuralOpTrait {
  let cppNamespace = "::gq";
}

/// The row of an operand in a table of gqOperandType: the function and the words
/// of its Gq_Shaped, that of each if there may be none or several.
class Gq_OperandRow<TypeConstraint operand> {
  defvar shaped = !cond(
      !isa<Optional>(operand): !cast<Optional>(operand).baseType,
      !isa<Variadic>(operand): !cast<Variadic>(operand).baseType,
      true: operand);
  string row = "{[](MlirType type) { return ::gq::" # shaped.cppFunctionName #
               "(unwrap(type)); }, \"" # shaped.summary # "\"},\n";
}

/// The rows of the operands among `arguments`.
class Gq_OperandRows<dag arguments> {
  string rows = !foldl("", !range(!size(arguments)), table, i, table #
      !if(!isa<TypeConstraint>(!getdagarg<Constraint>(arguments, i)),
          Gq_OperandRow<!getdagarg<TypeConstraint>(arguments, i)>.row, ""));
}

/// A destination-passing op; its outs are the operands from `firstInit` on. Its
/// operands are those of gq/Runtime/Ops.def, in that order.
class Gq_Op<string mnemonic, string firstInit, list<Trait> traits = []>
    : Op<Gq_Dialect, mnemonic,
         !listconcat([DestinationStyleOpInterface,
                      DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                      DeclareOpInterfaceMethods<ConditionallySpeculatable>,
                      DeclareOpInterfaceMethods<
                          ReifyRankedShapedTypeOpInterface,
                          ["reifyResultShapes"]>],
                     traits, [Gq_OperandTypes])> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  // In bytecode attributes have names (Dialect.cpp).
  let useCustomPropertiesEncoding = 1;
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// By position.
    static const gqOperandType *getOperandTypes();
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      unsigned first =
          getODSOperandIndexAndLength(odsIndex_}] # firstInit # [{).first;
      return ::mlir::MutableOperandRange(getOperation(), first,
                                         getNumOperands() - first);
    }
  }];
  let extraClassDefinition = [{
    const gqOperandType *$cppClass::getOperandTypes() {
      static const gqOperandType types[] = {
        }] # Gq_OperandRows<arguments>.rows # [{
      };
      return types;
    }
  }] # !if(useCustomPropertiesEncoding, [{
    ::llvm::LogicalResult $cppClass::readProperties(
        ::mlir::DialectBytecodeReader &reader, ::mlir::OperationState &state) {
      return readNamedProperties<$cppClass>(reader, state);
    }
    void $cppClass::writeProperties(::mlir::DialectBytecodeWriter &writer) {
      writer.writeAttribute(getPropertiesAsAttr(getContext(), getProperties()));
    }
  }], "");
}

defvar operandConstraints = [{

    Constraints (an extent may be static in one operand and dynamic in others):
    * (C1) Operands have the element types and ranks listed below.
    * (C2) Results are the types of `outs` where those are tensors; there are
      none where they are memrefs.
    * (C3) Operands are all tensors or all memrefs, whose static extents multiply
      to at most 2^48 each.}];
defvar sharedConstraints = !strconcat(operandConstraints, [{
    * (C4) K is a positive multiple of the format's block, and it has blocks.}]);

//===----------------------------------------------------------------------===//
// block_quantize
//===----------------------------------------------------------------------===//

def Gq_BlockQuantizeOp : Gq_Op<"block_quantize", "data"> {
  let summary = "Quantize blocks of consecutive elements of each row";
  let description = !strconcat([{
    Quantizes `[M, K]` to data and linear scales (see `FormatAttr`). `nvfp4`
    may have a global scale; its recipe is `nvfuser`.

    ```mlir
    %q, %s = gq.block_quantize format(nvfp4)
        ins(%x : tensor<?x5120xbf16>)
        outs(%q0, %s0 : tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN>)
        -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN>
    ```}], sharedConstraints, [{
    * (C5) `data` is `[M, K]` of the format's type or `[M, K/2]` of i8 for f4.
    * (C6) `scales` is `[M, K/block]` of the format's type, or `[M/128, K/128]`
      for blocks of 128 by 128, rounded up.
    * (C7) `scale_layout` is `linear`, and no tensor has an encoding.
    * (C8) Memrefs have an innermost stride of 1.
    * (C9) Only `nvfp4` has a `global_scale`.

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

def Gq_PreprocessGroupedMatmulSfOp
    : Gq_Op<"preprocess_grouped_matmul_sf", "scales"> {
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
    * (C9) `input` and `scales` are of the format's type, which is not f32.

    With M = 0 the op folds to its `outs`.
  }]);
  let arguments = (ins
    Gq_FormatAttr:$format,
    DefaultValuedAttr<Gq_ScaleLayoutAttr, "::gq::ScaleLayout::Tile128x4">
      :$scale_layout,
    Gq_Scales2D:$input,
    Gq_Indices:$offsets,
    Gq_Indices:$scale_offsets,
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
// Ops that quantize groups
//===----------------------------------------------------------------------===//

/// What they have besides attributes of their own; the operands are those of
/// gq/Runtime/GroupedQuantize.def.
defvar groupedQuantizeArguments = (ins
  OptionalAttr<Gq_DirectionAttr>:$rowwise,
  OptionalAttr<Gq_DirectionAttr>:$columnwise,
  OptionalAttr<AffineMapArrayAttr>:$maps,
  Variadic<Gq_Input>:$inputs,
  Optional<Gq_Indices>:$row_indices,
  Gq_Indices:$offsets,
  Optional<Gq_Indices>:$scale_offsets,
  Optional<Gq_Indices>:$first_dims,
  Optional<Gq_Indices>:$last_dims,
  Optional<Gq_F32ScalarOr1D>:$global_scale,
  Optional<Gq_F32ScalarOr1D>:$outer_amax,
  Optional<Gq_F32UpTo2D>:$columnwise_outer_amax,
  Optional<Gq_RngState>:$rng_state,
  Optional<Gq_F32ScalarOr1D>:$scale,
  Optional<Gq_I32Scalar>:$noop_flag,
  Optional<Gq_DataOrFloat>:$data,
  Optional<Gq_Scales>:$scales,
  Optional<Gq_DataOrFloat>:$columnwise_data,
  Optional<Gq_Scales1D>:$columnwise_scales,
  Optional<Gq_F32_1D>:$amax,
  Optional<Gq_F32_1D>:$row_amax,
  Optional<Gq_Float2D>:$dbias,
  Optional<Gq_Indices>:$scale_offsets_out,
  Optional<Gq_F32_1D>:$scale_inv);

/// Clauses of their assembly.
defvar groupedQuantizeInputs = [{
    `ins` `(` $inputs `:` type($inputs) `)`
    (`row_indices` `(` $row_indices^ `:` type($row_indices) `)`)?
    (`maps` $maps^)? }];
defvar groupedQuantizeShapes = [{
    (`shapes` `(` $first_dims^ `,` $last_dims `:`
                  type($first_dims) `,` type($last_dims) `)`)? }];
defvar groupedQuantizeNoop = [{
    (`noop_flag` `(` $noop_flag^ `:` type($noop_flag) `)`)? }];
defvar groupedQuantizeEnd = [{
    (`->` type($results)^)?
    (`producer` $producer^)? }];

/// All of it after attributes of their own.
defvar groupedQuantizeAssembly = !strconcat([{
    (`rowwise` `` $rowwise^)? (`columnwise` `` $columnwise^)? attr-dict }],
    groupedQuantizeInputs, [{
    `groups` `(` $offsets (`,` $scale_offsets^)? `:`
                 type($offsets) (`,` type($scale_offsets)^)? `)` }],
    groupedQuantizeShapes, [{
    (`global_scale` `(` $global_scale^ `:` type($global_scale) `)`)?
    (`outer_amax` `(` $outer_amax^ `:` type($outer_amax) `)`)?
    (`columnwise_outer_amax`
       `(` $columnwise_outer_amax^ `:` type($columnwise_outer_amax) `)`)?
    (`rng_state` `(` $rng_state^ `:` type($rng_state) `)`)?
    (`scale` `(` $scale^ `:` type($scale) `)`)? }],
    groupedQuantizeNoop, [{
    (`outs` `(` $data^ (`,` $scales^)? `:`
                type($data) (`,` type($scales)^)? `)`)?
    (`columnwise_outs` `(` $columnwise_data^ (`,` $columnwise_scales^)? `:`
                           type($columnwise_data)
                           (`,` type($columnwise_scales)^)? `)`)?
    (`amax_out` `(` $amax^ `:` type($amax) `)`)?
    (`row_amax_out` `(` $row_amax^ `:` type($row_amax) `)`)?
    (`dbias_out` `(` $dbias^ `:` type($dbias) `)`)?
    (`scale_offsets_out`
       `(` $scale_offsets_out^ `:` type($scale_offsets_out) `)`)?
    (`scale_inv_out` `(` $scale_inv^ `:` type($scale_inv) `)`)? }],
    groupedQuantizeEnd);

class Gq_GroupedQuantizeBase<string mnemonic, dag attributes>
    : Gq_Op<mnemonic, "data",
            [AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock]> {
  let arguments = !con(attributes, groupedQuantizeArguments);
  // Variadic: a region that is there but empty would have no block to verify.
  let regions = (region VariadicRegion<SizedRegion<1>>:$producer);
}

//===----------------------------------------------------------------------===//
// grouped_block_quantize
//===----------------------------------------------------------------------===//

def Gq_GroupedBlockQuantizeOp
    : Gq_GroupedQuantizeBase<"grouped_block_quantize", (ins
        Gq_FormatAttr:$format,
        DefaultValuedAttr<Gq_RecipeAttr, "::gq::Recipe::NVFUSER">:$recipe,
        DefaultValuedAttr<Gq_ScaleLayoutAttr, "::gq::ScaleLayout::Tile128x4">
          :$scale_layout,
        DefaultValuedAttr<Gq_RowsAttr, "::gq::Rows::All">:$rows)> {
  let summary = "Quantize rows and lay out their scales group by group";
  let description = !strconcat([{
    `gq.block_quantize` and `gq.preprocess_grouped_matmul_sf` in one: the
    linear scales never exist.

    ```mlir
    %q, %sf = gq.grouped_block_quantize format(nvfp4)
        ins(%x : tensor<?x5120xbf16>)
        groups(%offsets, %sf_offsets : tensor<129xi32>, tensor<128xi32>)
        outs(%q0, %sf0 : tensor<?x5120xf4E2M1FN>,
                         tensor<?x320xf8E4M3FN, #gq.tile128x4>)
        -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
    ```

    Everything but `ins` and `groups` is optional, but at least one of `outs` and
    `columnwise_outs` is required. The input is read once for all outputs.

    **Groups.** Group e has the rows from `offsets[e]` up to `offsets[e+1]`; its
    tiles of rowwise scales begin at row `scale_offsets[e]`, a multiple of 128.
    Without `scale_offsets` groups are packed: `scale_offsets[0] = 0` and
    `scale_offsets[e+1] = scale_offsets[e] + (rows of e rounded up to 128)`.
    `scale_offsets_out` returns these.

    **Scales of the recipe.** There is one `global_scale` (recipe `nvfuser`) or
    `outer_amax` (`te`) for all rows, or one for each group; rows in no group are
    then quantized without. `columnwise_outer_amax` is that of the columns, if
    it differs. With `outer = row` of `rowwise` there is one for each row, and
    with `outer = column` of `columnwise` one for each column of each group.

    **Columns.** `columnwise_outs` are the data and scales of blocks along the
    columns, counted from the group's first row, group after group. For a group
    of m rows, m32 is m rounded up to 32:
    * Data of a format that transposes is flat, `[K, m32]` for each group, packed
      along m32 and padded with zeros. Other formats store it as rowwise data.
    * Scales are flat, `[K, m32/block]` for each group, rounded up. In
      `tile128x4` K is padded to 128 and the columns to 4. For blocks of 128 by
      128 it is `[K/128, m/128]`, rounded up.

    **Directions.** Where one direction differs from the default, its attribute
    says so (see `DirectionAttr`): `rowwise<...>` for `outs`, `columnwise<...>`
    for `columnwise_outs`.

    `rng_state` holds the seed and the offset of the random bits of `rounding =
    stochastic`, as unsigned numbers: rounding twice with the same two gives the
    same codes.

    ```mlir
    %qt, %sft = gq.grouped_block_quantize format(nvfp4) recipe(te)
        columnwise<rounding = stochastic, transform = hadamard16, signs = 0xD7E8>
        ins(%x : tensor<?x5120xbf16>) groups(%offsets : tensor<129xi32>)
        columnwise_outer_amax(%amax : tensor<128xf32>)
        rng_state(%seed_and_offset : tensor<2xi64>)
        columnwise_outs(%qt0, %sft0 : tensor<?xf4E2M1FN>,
                                      tensor<?xf8E4M3FN, #gq.tile128x4>)
        -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
    ```

    **Linear scales** are `[M, K/block]`; for blocks of 128 by 128, which begin
    at a group's first row, they are flat: `[m/128, K/128]` for each group,
    rounded up.

    **Amaxes of rows.** With `outer = row` of `rowwise`, and `row_amax_out`
    instead of `outer_amax`, the op computes the amaxes itself, as
    `gq.grouped_amax` would, for the rows that it quantizes. `gq-fuse-row-amax`
    fuses the two ops into this: a kernel that holds a row on the chip need not
    read it again.

    ```mlir
    %q, %sf, %r = gq.grouped_block_quantize format(nvfp4) recipe(te)
        rowwise<outer = row>
        ins(%x : tensor<?x5120xbf16>) groups(%offsets : tensor<129xi32>)
        outs(%q0, %sf0 : tensor<?x5120xf4E2M1FN>,
                         tensor<?x320xf8E4M3FN, #gq.tile128x4>)
        row_amax_out(%r0 : tensor<?xf32>)
        -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>,
           tensor<?xf32>
    ```

    **No operation.** If `noop_flag` is not 0 when the op runs, all results keep
    the contents of their `outs`: in a captured step, weights are quantized only
    if they have changed. The CPU checks the operands all the same.

    **Other results.** `amax[e]` is the largest magnitude of what is quantized in
    group e, ignoring NaN. `dbias[e]` holds its column sums, accumulated in f32
    in an order that depends only on the number of rows, and rounded once. Both
    are 0 for an empty group.

    ```mlir
    %q, %sf, %qt, %sft, %amax, %dbias, %so =
        gq.grouped_block_quantize format(nvfp4) recipe(te)
        ins(%x : tensor<?x5120xbf16>) groups(%offsets : tensor<129xi32>)
        outer_amax(%a : tensor<128xf32>)
        outs(%q0, %sf0 : tensor<?x5120xf4E2M1FN>,
                         tensor<?x320xf8E4M3FN, #gq.tile128x4>)
        columnwise_outs(%qt0, %sft0 : tensor<?xf4E2M1FN>,
                                      tensor<?xf8E4M3FN, #gq.tile128x4>)
        amax_out(%amax0 : tensor<128xf32>)
        dbias_out(%dbias0 : tensor<128x5120xf32>)
        scale_offsets_out(%so0 : tensor<128xi32>)
        -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>,
           tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>,
           tensor<128xf32>, tensor<128x5120xf32>, tensor<128xi32>
    ```

    **Ragged groups.** With `shapes`, group e is a row-major matrix with extents
    of its own, `[first_dims[e], last_dims[e]]`. It begins at element
    `offsets[e]` of a flat input, a multiple of 16 unless the group is empty, and
    ends at or before `offsets[e+1]`; elements in between belong to no group and
    are left alone. Data is flat like the input, and so are all scales, group
    after group.

    ```mlir
    %q, %sf = gq.grouped_block_quantize format(mxfp8_e4m3)
        ins(%x : tensor<?xbf16>) groups(%offsets : tensor<9xi64>)
        shapes(%m, %k : tensor<8xi64>, tensor<8xi64>)
        outs(%q0, %sf0 : tensor<?xf8E4M3FN>,
                         tensor<?xf8E8M0FNU, #gq.tile128x4>)
        -> tensor<?xf8E4M3FN>, tensor<?xf8E8M0FNU, #gq.tile128x4>
    ```

    **Fake quantization.** `data` of `f32`, `bf16` or `f16` holds not codes but
    the numbers that they stand for, which `gq.grouped_dequantize` would make of
    them and of the scales, to the byte. There are no scales then.
    `columnwise_data` may be the same; it is never transposed. With `rows(all)`
    the rows in no group become numbers too. Training with quantization in mind
    needs no more of a quantization than this. `gq-fuse-fake-quantize` makes one
    op of two. A GPU has kernels for `data` alone, of blocks with one row.

    ```mlir
    %y = gq.grouped_block_quantize format(nvfp4) rows(grouped)
        ins(%x : tensor<?x5120xbf16>) groups(%offsets : tensor<129xi32>)
        outs(%y0 : tensor<?x5120xbf16>) -> tensor<?x5120xbf16>
    ```

    **Producer.** The optional region `producer` computes what is quantized from
    several inputs, element by element. `maps` then says which element of each
    input belongs to the element (m, k): the identity, a broadcast of a column
    `(m, k) -> (m)` or of a row `(m, k) -> (k)`, or a scalar `(m, k) -> ()`. The
    value that the region yields is quantized in the precision of its type. Its
    operations are what their `fastmath` flags allow: on a GPU, `afn` of
    `math.exp` and `arcp,afn` of `arith.divf` choose the chip's approximations;
    without flags quotients are rounded to nearest even.

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

    **Gather.** With `row_indices`, row m is row `row_indices[m]` of the input
    `[N, K]`, as when tokens are permuted by expert. The sorted rows are never
    stored. With a `producer`, each input is read by row or by index; the index
    is the symbol r of its map, `(m, k)[r] -> (r, k)` or `(m, k)[r] -> (r)`.
    Every index must lie in [0, N), even that of a row in no group. On the CPU
    any other is an error; on a GPU all gathered elements of its row are zero.

    ```mlir
    %q, %sf = gq.grouped_block_quantize format(nvfp4)
        ins(%tokens : tensor<?x5120xbf16>) row_indices(%idx : tensor<?xi32>)
        groups(%offsets, %sf_offsets : tensor<129xi32>, tensor<128xi32>)
        outs(%q0, %sf0 : tensor<?x5120xf4E2M1FN>,
                         tensor<?x320xf8E4M3FN, #gq.tile128x4>)
        -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
    ```

    `data` is `[M, K]` of the format's type or, for f4, `[M, K/2]` of i8; the same
    holds for flat data.}], sharedConstraints, [{
    * (C5) `scale_offsets` holds G entries, `offsets` G or G+1, of the same
      element type. Without `scale_offsets`, `offsets` holds G+1.
    * (C6) `global_scale`, if of rank 1, holds G entries.
    * (C7) Without `producer` there is one input, `[M, K]` or, with
      `row_indices`, `[N, K]`, and no `maps`.
    * (C8) `scales` in `tile128x4` is `[rows, K/block rounded up to 4]` with rows
      a multiple of 128; linear scales are as above.
    * (C9) Scales in `tile128x4` have that encoding, no other tensor has one.
    * (C10) Memrefs have an innermost stride of 1; all but the inputs, data and
      linear scales of rank 2 are contiguous.
    * (C11) With `producer` there are up to 8 inputs, and each has one of the
      maps above and the extents that it asks for.
    * (C12) `producer` takes the elements of the inputs and yields one `f32`,
      `bf16` or `f16`.
    * (C13) `row_indices` holds M entries.
    * (C14) With `producer`, one of `maps` has the symbol r if there are
      `row_indices`, and none if not.
    * (C15) Inputs read by index have the same number N of rows.
    * (C16) `data` and `scales` come together, and so do `columnwise_data` and
      `columnwise_scales`, but for (C39); at least one of the pairs is there.
    * (C17) Data and scales are of the format's types, but for (C39).
    * (C18) Only `nvfp4` has the recipe `te`. It needs `outer_amax` or, without
      `outs`, `columnwise_outer_amax`, which is for `columnwise_data`, or
      `row_amax`; other recipes have none of these. Those of rank 1 hold G
      entries, except that with `outer = row` `outer_amax` is `[M]`. With `outer
      = column` `columnwise_outer_amax` is required and is `[G, K]`. It is also
      required if `outer_amax` is one for each row.
    * (C19) Only `nvfp4` with the recipe `nvfuser` has a `global_scale`.
    * (C20) Scales of f32 are `linear`.
    * (C21) `scale_offsets` and `scale_offsets_out` are for rowwise scales in
      `tile128x4` of groups of rows, and exclude each other.
      `scale_offsets_out` holds G entries of the type of `offsets`.
    * (C22) `columnwise_data` is flat if the format transposes, else as `data`.
    * (C23) `first_dims` and `last_dims` come together and hold G entries of the
      type of `offsets`. Then there is one flat input and no `producer`,
      `row_indices` or `dbias`.
    * (C24) `amax` holds G entries, and `dbias` is `[G, K]`.
    * (C25) Some operand has the extent M, and some K: data that is not
      transposed, `row_indices`, `dbias` or an input.
    * (C26) `rowwise` is for `outs`, `columnwise` for `columnwise_outs`.
    * (C27) `block` of a direction, if given, is that of the format, such as 1 by
      16 for `rowwise` of `nvfp4` and 16 by 1 for `columnwise`, or 16 by 16.
    * (C28) `rounding = stochastic`, `transform = hadamard16`, blocks of 16 by 16
      and `four_over_six` are for `nvfp4`.
    * (C29) `outer = row` is for `rowwise` and `outer = column` for `columnwise`,
      of the recipe `te` and without `shapes`.
    * (C30) A `transform` is for `columnwise`, and `signs` are 16 bits for it.
    * (C31) Blocks of 16 by 16 are rounded to `nearest`, without a transform, and
      their `outer` is `group`.
    * (C32) `four_over_six` is for the recipe `te` and rounding to `nearest`;
      `scale_max` is for it, and 256 or 448.
    * (C33) `rng_state` is there if a direction rounds stochastically. It holds 2
      entries.
    * (C34) It has no `scale` and no `scale_inv`, which `gq.grouped_quantize` has.
    * (C38) `row_amax` is for `outer = row` of `rowwise` without `outer_amax`, and
      without `columnwise_outs`. It holds M entries.
    * (C39) `data` of `f32`, `bf16` or `f16` has the shape of what is quantized,
      and there are no `scales`. The same holds for `columnwise_data` and
      `columnwise_scales`.

    With M = 0 the op folds to its `outs`, unless it has outputs besides data and
    scales.
  }]);
  let assemblyFormat = !strconcat([{
    `format` `` $format (`recipe` `` $recipe^)?
    (`scale_layout` `` $scale_layout^)? (`rows` `` $rows^)?}],
    groupedQuantizeAssembly);
}

//===----------------------------------------------------------------------===//
// grouped_quantize
//===----------------------------------------------------------------------===//

def Gq_GroupedQuantizeOp
    : Gq_GroupedQuantizeBase<"grouped_quantize", (ins
        Gq_FormatAttr:$format,
        DefaultValuedAttr<Gq_RowsAttr, "::gq::Rows::All">:$rows)> {
  let summary = "Quantize groups to fp8 with one scale for each group";
  let description = [{
    FP8 per tensor, group by group: an element x of group e becomes the code of
    `x * scale[e]`, rounded to nearest even and saturated. The operands are those
    of `gq.grouped_block_quantize` without block scales, which these formats do
    not have; groups, ragged groups, columns, producers, gathers, `amax`, `dbias`,
    `rows` and fake quantization work as there. Columnwise data is transposed and
    padded with zeros. An element has the same code in both directions.

    **Delayed scaling.** `scale` is predicted from previous steps. The op returns
    `amax`, from which `gq.update_scales` computes the next scale, and
    `scale_inv[e] = 1 / scale[e]`, the factor that dequantizes.

    ```mlir
    %q, %qt, %amax, %inv = gq.grouped_quantize format(fp8_e4m3)
        ins(%x : tensor<?x2880xbf16>) groups(%offsets : tensor<17xi32>)
        scale(%scale : tensor<16xf32>)
        outs(%q0 : tensor<?x2880xf8E4M3FN>)
        columnwise_outs(%qt0 : tensor<?xf8E4M3FN>)
        amax_out(%amax0 : tensor<16xf32>)
        scale_inv_out(%inv0 : tensor<16xf32>)
        -> tensor<?x2880xf8E4M3FN>, tensor<?xf8E4M3FN>, tensor<16xf32>,
           tensor<16xf32>
    ```

    **Current scaling.** With `outer_amax`, the amax of what is quantized, the
    scale is max/amax, at most the largest finite float32, or 1 if the amax is 0
    or not finite. Computing it takes no kernel of its own.

    ```mlir
    %q, %inv = gq.grouped_quantize format(fp8_e5m2)
        ins(%x : tensor<?x2880xbf16>) groups(%offsets : tensor<17xi32>)
        outer_amax(%amax : tensor<16xf32>)
        outs(%q0 : tensor<?x2880xf8E5M2>)
        scale_inv_out(%inv0 : tensor<16xf32>)
        -> tensor<?x2880xf8E5M2>, tensor<16xf32>
    ```

    If scales are per group, rows in no group are quantized with a scale of 1. A
    scale may have any value: 0 * inf and the like are NaN and become 0x7F, and
    `scale_inv` is the quotient that IEEE 754 defines.

    Constraints are those of `gq.grouped_block_quantize` for the operands that
    the op has, with 16 for the format's block, and these:
    * (C34) It has no `scales`, `columnwise_scales`, `scale_offsets`,
      `scale_offsets_out`, `global_scale`, `columnwise_outer_amax`, `rng_state`
      or `row_amax`; `rowwise<...>` and `columnwise<...>` have default values.
    * (C35) `format` is `fp8_e4m3` or `fp8_e5m2`.
    * (C36) There is either `scale` or `outer_amax`; if of rank 1, it holds G
      entries.
    * (C37) `scale_inv` holds G entries.

    With M = 0 the op folds to its `outs`, unless it has outputs besides data.
  }];
  let assemblyFormat = !strconcat([{
    `format` `` $format (`rows` `` $rows^)?}], groupedQuantizeAssembly);
}

//===----------------------------------------------------------------------===//
// grouped_amax
//===----------------------------------------------------------------------===//

def Gq_GroupedAmaxOp
    : Gq_Op<"grouped_amax", "amax",
            [AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock]> {
  let summary = "The largest magnitudes of groups, of rows and of columns";
  let description = !strconcat([{
    Computes what outer scales are derived from, before anything is quantized:
    all requested results in one pass over the input.

    * `amax`, `[G]`: the largest magnitude of each group; 0 for an empty one.
    * `row_amax`, `[M]`: that of each row. With `rows(grouped)`, entries of rows
      in no group keep the contents of `row_amax_out`.
    * `column_amax`, `[G, K]`: that of each column of a group; 0 for an empty one.
    * `columnwise_amax`, `[G]`: that of each group after the transform of
      `columnwise`; `column_amax` is taken after that transform too. Missing rows
      of a column's last block are transformed as zeros.

    NaN is ignored; the amax of nothing but NaN is 0. Magnitudes are exact, so the
    result does not depend on the order.

    ```mlir
    %a, %r, %c = gq.grouped_amax
        ins(%x : tensor<?x5120xbf16>) groups(%offsets : tensor<129xi32>)
        amax_out(%a0 : tensor<128xf32>)
        row_amax_out(%r0 : tensor<?xf32>)
        column_amax_out(%c0 : tensor<128x5120xf32>)
        -> tensor<128xf32>, tensor<?xf32>, tensor<128x5120xf32>
    ```

    ```mlir
    %a, %t = gq.grouped_amax
        columnwise<transform = hadamard16, signs = 0xD7E8>
        ins(%x : tensor<?x5120xbf16>) groups(%offsets : tensor<129xi32>)
        amax_out(%a0 : tensor<128xf32>)
        columnwise_amax_out(%t0 : tensor<128xf32>)
        -> tensor<128xf32>, tensor<128xf32>
    ```

    Inputs, `producer`, `row_indices`, groups, `shapes` and `noop_flag` are those
    of `gq.grouped_block_quantize`. On a GPU, a row whose index is out of range
    counts as zeros.

    ```mlir
    %a = gq.grouped_amax
        ins(%x : tensor<?xbf16>) groups(%offsets : tensor<9xi64>)
        shapes(%m, %k : tensor<8xi64>, tensor<8xi64>)
        amax_out(%a0 : tensor<8xf32>) -> tensor<8xf32>
    ```}], operandConstraints, [{
    * (C4) K is a positive multiple of 16.
    * (C5) There is at least one result.
    * (C6) `offsets` holds G+1 entries.
    * (C7) Without `producer` there is one input, `[M, K]` or, with
      `row_indices`, `[N, K]`, and no `maps`.
    * (C8) With `producer` there are up to 8 inputs, and each has one of the
      maps of `gq.grouped_block_quantize` and the extents that it asks for.
    * (C9) `producer` takes the elements of the inputs and yields one `f32`,
      `bf16` or `f16`.
    * (C10) `row_indices` holds M entries.
    * (C11) With `producer`, one of `maps` has the symbol r if there are
      `row_indices`, and none if not.
    * (C12) Inputs read by index have the same number N of rows.
    * (C13) `first_dims` and `last_dims` come together and hold G entries of the
      type of `offsets`. Then there is one flat input and no `producer`,
      `row_indices`, `row_amax` or `column_amax`.
    * (C14) `amax` and `columnwise_amax` hold G entries, `row_amax` M, and
      `column_amax` is `[G, K]`.
    * (C15) Some operand has the extent M, and some K: `row_indices`, `row_amax`,
      `column_amax` or an input.
    * (C16) Memrefs have an innermost stride of 1; all but the inputs are
      contiguous.
    * (C17) No tensor has an encoding.
    * (C18) `columnwise` is for `columnwise_amax`, which needs a transform, or
      `column_amax`. It has only a transform and its signs.
  }]);
  let arguments = (ins
    DefaultValuedAttr<Gq_RowsAttr, "::gq::Rows::All">:$rows,
    OptionalAttr<Gq_DirectionAttr>:$columnwise,
    OptionalAttr<AffineMapArrayAttr>:$maps,
    Variadic<Gq_Input>:$inputs,
    Optional<Gq_Indices>:$row_indices,
    Gq_Indices:$offsets,
    Optional<Gq_Indices>:$first_dims,
    Optional<Gq_Indices>:$last_dims,
    Optional<Gq_I32Scalar>:$noop_flag,
    Optional<Gq_F32_1D>:$amax,
    Optional<Gq_F32_1D>:$columnwise_amax,
    Optional<Gq_F32_1D>:$row_amax,
    Optional<Gq_F32_2D>:$column_amax);
  let regions = (region VariadicRegion<SizedRegion<1>>:$producer);
  let assemblyFormat = !strconcat([{
    (`rows` `` $rows^)? (`columnwise` `` $columnwise^)? attr-dict }],
    groupedQuantizeInputs, [{
    `groups` `(` $offsets `:` type($offsets) `)`}],
    groupedQuantizeShapes, groupedQuantizeNoop, [{
    (`amax_out` `(` $amax^ `:` type($amax) `)`)?
    (`columnwise_amax_out`
       `(` $columnwise_amax^ `:` type($columnwise_amax) `)`)?
    (`row_amax_out` `(` $row_amax^ `:` type($row_amax) `)`)?
    (`column_amax_out` `(` $column_amax^ `:` type($column_amax) `)`)?}],
    groupedQuantizeEnd);
}

def Gq_YieldOp : Op<Gq_Dialect, "yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["GroupedBlockQuantizeOp", "GroupedQuantizeOp",
                 "GroupedAmaxOp", "GroupedMmOp", "BlockDequantizeOp",
                 "GroupedDequantizeOp"]>]> {
  let summary = "The element that a producer or an epilogue computes";
  let arguments = (ins AnyTypeOf<[F32, BF16, F16]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// update_scales
//===----------------------------------------------------------------------===//

def Gq_UpdateScalesOp : Gq_Op<"update_scales", "history"> {
  let summary = "Compute the next scales from recent amaxes";
  let description = [{
    Delayed scaling. `history` holds the amaxes of the last H steps, the latest
    first: `amax` is put in front of them, and the oldest one is dropped. The
    scale of group e then follows from a, the largest or the latest amax of group
    e in the history, as `amax_algo` says:

    `scale[e] = max/a * 2^-margin` in float32, where max is the largest code of
    `format`, but at most the largest finite float32. If a is 0 or not finite,
    the scale is unchanged.

    ```mlir
    %h, %s = gq.update_scales format(fp8_e4m3) amax_algo(most_recent)
        ins(%amax : tensor<16xf32>)
        outs(%h0, %s0 : tensor<1024x16xf32>, tensor<16xf32>)
        -> tensor<1024x16xf32>, tensor<16xf32>
    ```

    Constraints:
    * (C1), (C2), (C3) are those of `gq.block_quantize`.
    * (C4) `format` is one of a whole tensor, `fp8_e4m3` or `fp8_e5m2`.
    * (C5) `history` is `[H, G]` with H > 0, and `amax` and `scale` hold G entries.
    * (C6) `margin` lies in [0, 126].
    * (C7) No tensor has an encoding; memrefs are contiguous.

    With G = 0 the op folds to its `outs`.
  }];
  let arguments = (ins
    Gq_FormatAttr:$format,
    DefaultValuedAttr<Gq_AmaxAlgoAttr, "::gq::AmaxAlgo::Max">:$amax_algo,
    DefaultValuedAttr<I32Attr, "0">:$margin,
    Gq_F32_1D:$amax,
    Gq_F32_2D:$history,
    Gq_F32_1D:$scale);
  let assemblyFormat = [{
    `format` `` $format (`amax_algo` `` $amax_algo^)?
    (`margin` `` `(` $margin^ `)`)? attr-dict
    `ins` `(` $amax `:` type($amax) `)`
    `outs` `(` $history `,` $scale `:` type($history) `,` type($scale) `)`
    (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// group_offsets
//===----------------------------------------------------------------------===//

def Gq_GroupOffsetsOp : Gq_Op<"group_offsets", "offsets"> {
  let summary = "Where groups begin, from how many rows they have";
  let useCustomPropertiesEncoding = 0; // It has none.
  let description = [{
    The sums that the `groups` of the other ops are: for groups of `counts` rows,
    one after the other,

    `offsets[0] = 0`, `offsets[e+1] = offsets[e] + counts[e]`,
    `scale_offsets[0] = 0`,
    `scale_offsets[e+1] = scale_offsets[e] + (counts[e] rounded up to 128)`.

    ```mlir
    %o, %so = gq.group_offsets ins(%counts : tensor<128xi64>)
        outs(%o0, %so0 : tensor<129xi32>, tensor<128xi32>)
        -> tensor<129xi32>, tensor<128xi32>
    ```

    A count that is negative, and a sum that the type cannot hold, are an error at
    run time. On a GPU a negative count is 0, and a sum is at most what the type
    holds (of scale offsets its largest multiple of 128), so that an op that gets
    them skips the groups from there on; the status says so.

    Constraints:
    * (C1), (C2), (C3) are those of `gq.block_quantize`.
    * (C4) `counts` and `scale_offsets` hold G entries, `offsets` G or G+1.
    * (C5) `scale_offsets` are of the type of `offsets`.
    * (C6) No tensor has an encoding; memrefs are contiguous.
  }];
  let arguments = (ins
    Gq_Indices:$counts,
    Gq_Indices:$offsets,
    Optional<Gq_Indices>:$scale_offsets);
  let assemblyFormat = [{
    attr-dict `ins` `(` $counts `:` type($counts) `)`
    `outs` `(` $offsets (`,` $scale_offsets^)? `:`
               type($offsets) (`,` type($scale_offsets)^)? `)`
    (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// grouped_mm
//===----------------------------------------------------------------------===//

def Gq_GroupedMmOp
    : Gq_Op<"grouped_mm", "out", [AttrSizedOperandSegments, IsolatedFromAbove,
                                  SingleBlock]> {
  let summary = "Multiply the rows of each group by its own weights";
  let description = !strconcat([{
    For each row i of group e,
    `out[i, n] = factor * sum_k deq(a)[i, k] * deq(b[e])[n, k] + bias[e, n]`
    with `factor = alpha[e] * row_scales[i] * column_scales[e, n]`, where deq
    multiplies a code by its block's scale. Absent operands are left out of the
    formula. Everything is computed in float32 or wider, in any order, but for what
    tensor cores keep of a step's sum (see `MmKernelAttr`), and rounded
    once to the type of `out`; NaN and infinities propagate. Rows in no group keep
    the contents of `outs`.

    ```mlir
    %c = gq.grouped_mm format(nvfp4)
        ins(%a, %b : tensor<?x5120xf4E2M1FN>, tensor<128x8192x5120xf4E2M1FN>)
        scales(%sa, %sb : tensor<?x320xf8E4M3FN, #gq.tile128x4>,
                          tensor<128x8192x320xf8E4M3FN, #gq.tile128x4>)
        groups(%offsets, %sf_offsets : tensor<129xi32>, tensor<128xi32>)
        outs(%c0 : tensor<?x8192xbf16>) -> tensor<?x8192xbf16>
    ```

    `a` is `[M, K]` of the format's type or `[M, K/2]` of i8 for f4.

    **Formats.** `format` is that of `a` and, unless there is a `b_format`, of
    `b`. The two must have the same scale rule, such as activations in blocks of
    1 by 128 and weights in blocks of 128 by 128, or `mxfp8_e4m3` and `mxfp4`.

    ```mlir
    %c = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
        scale_layout(linear)
        ins(%a, %b : tensor<?x7168xf8E4M3FN>, tensor<256x2048x7168xf8E4M3FN>)
        scales(%sa, %sb : tensor<?x56xf32>, tensor<256x16x56xf32>)
        groups(%offsets : tensor<257xi32>)
        outs(%c0 : tensor<?x2048xbf16>) -> tensor<?x2048xbf16>
    ```

    Without a format, `a` and `b` are each `f8E4M3FN` or `f8E5M2` without block
    scales. That is FP8 per tensor, with its scales in `alpha`, or per token and
    channel, with `row_scales` and `column_scales`.

    ```mlir
    %c = gq.grouped_mm
        ins(%a, %b : tensor<?x5120xf8E4M3FN>, tensor<16x8192x5120xf8E4M3FN>)
        groups(%offsets : tensor<17xi32>)
        row_scales(%per_token : tensor<?xf32>)
        column_scales(%per_channel : tensor<16x8192xf32>)
        bias(%bias : tensor<16x8192xbf16>)
        outs(%c0 : tensor<?x8192xbf16>) -> tensor<?x8192xbf16>
    ```

    **Bias** is `[G, N]`, because each group is a layer of its own.

    **Epilogue.** With the region `epilogue`, `c[i, n]`, which is what `out[i, n]`
    would be without, is rounded once to the type of the region's arguments, and
    `out[i, n] = f(c[i, n])`, f being the region. With `pairs(interleaved)` it is
    `out[i, j] = f(c[i, 2j], c[i, 2j+1])` and with `pairs(halves)`
    `out[i, j] = f(c[i, j], c[i, j + N/2])`, so that `out` is `[M, N/2]`: gate and
    up projection are one matmul with one activation. The bytes are those of two
    ops, the second of which computes f. It is two on CPUs; a GPU computes f where
    it stores an element. Where a group is not as it must be, its rows of `out` may
    hold anything.

    ```mlir
    %h = gq.grouped_mm format(nvfp4) pairs(interleaved)
        ins(%a, %b : tensor<?x5120xf4E2M1FN>, tensor<128x8192x5120xf4E2M1FN>)
        scales(%sa, %sb : tensor<?x320xf8E4M3FN, #gq.tile128x4>,
                          tensor<128x8192x320xf8E4M3FN, #gq.tile128x4>)
        groups(%offsets, %sf_offsets : tensor<129xi32>, tensor<128xi32>)
        epilogue {
        ^bb0(%gate: f32, %up: f32):
          %zero = arith.constant 0.0 : f32
          %relu = arith.maximumf %gate, %zero : f32
          %product = arith.mulf %relu, %up : f32
          %rounded = arith.truncf %product : f32 to bf16
          gq.yield %rounded : bf16
        }
        outs(%h0 : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
    ```

    **A training step** in `nvfp4`, of tokens x `[M, K]`, weights w `[G, N, K]` and
    the gradient dy `[M, N]`; rowwise and columnwise are the directions in which
    they were quantized, and m32 is m rounded up to 32:

    | product | `a` and its scales | `b` and its scales | result |
    |---|---|---|---|
    | forward, y = x w^T | rowwise x: `[M, K]`, `[rows, K/16]` | rowwise w: `[G, N, K]`, `[G, N, K/16]` | `[M, N]` |
    | dgrad, dx = dy w | rowwise dy: `[M, N]`, `[rows, N/16]` | columnwise w: `[G, K, N]`, `[G, K, N/16]` | `[M, K]` |
    | wgrad, dw = dy^T x, `gq.grouped_wgrad` | columnwise dy: flat, `[N, m32]` for each group, `[N, m32/16]` | columnwise x: flat, `[K, m32]` for each group, `[K, m32/16]` | `[G, N, K]` |

    Scales are in `tile128x4`: for each group or matrix their rows are rounded up
    to 128 and their columns to 4.

    Outer amaxes of the recipe `te` are factors of the result, a / 2688 each, or
    a / 1536 if the codes were made by four over six with `scale_max = 256`. If
    they are per group, they go into `alpha`, (a * (1/2688)) * (b * (1/2688)). If
    they are per token and per row of the weights, `row_scales[i]` is row_amax[i]
    * (1/2688) and `column_scales[e, n]` is that of row n of w, in dgrad that of
    column k of w. In wgrad they belong to columns of dy and x within a group,
    `[G, N]` and `[G, K]`; `gq.grouped_wgrad` takes none of these, so that dw is
    multiplied by both factors of its element afterwards.

    **Gradients.** The gradient of the input is the same op: `a` is the gradient
    of the output, and `b` and `b_scales` are the `columnwise_outs` of the
    weights, through a `tensor.expand_shape` if they are flat. Formats that
    transpose store them as `b` is. In other formats, and without a format, the
    other extent of `b` is innermost, `b_major(n)`: `b` is `[G, K, N]` of the
    format's type or `[G, K, N/2]` of i8 for f4, and `b_scales` are the same. The
    gradient of the weights is `gq.grouped_wgrad`.

    ```mlir
    %dx = gq.grouped_mm format(mxfp8_e5m2) b_format(mxfp8_e4m3) b_major(n)
        ins(%dy, %w : tensor<?x8192xf8E5M2>, tensor<16x8192x5120xf8E4M3FN>)
        scales(%sdy, %sw : tensor<?x256xf8E8M0FNU, #gq.tile128x4>,
                           tensor<16x5120x256xf8E8M0FNU, #gq.tile128x4>)
        groups(%offsets, %sf_offsets : tensor<17xi32>, tensor<16xi32>)
        outs(%dx0 : tensor<?x5120xbf16>) -> tensor<?x5120xbf16>
    ```}], sharedConstraints, [{
    * (C5) `b` is `[G, N, K]` of the format's type or `[G, N, K/2]` of i8 for f4,
      or as above with `b_major(n)`.
    * (C6) `a_scales` in `tile128x4` is `[rows, K/block rounded up to 4]` with
      rows a multiple of 128, linear `[M, K/block]`.
    * (C7) `b_scales` in `tile128x4` is `[G, N rounded up to 128, K/block rounded
      up to 4]`, linear `[G, N, K/block]`, or `[G, N/128, K/128]`, rounded up, for
      blocks of 128 by 128.
    * (C8) `scale_layout` is `linear` for scales of f32, else `tile128x4`. Scales
      in `tile128x4` have that encoding, no other tensor has one.
    * (C9) `scale_offsets` holds G entries, `offsets` G or G+1, of the same
      element type. Without `scale_offsets`, `offsets` holds G+1.
    * (C10) `alpha` holds G entries.
    * (C11) `out` is `[M, N]`, with `pairs` `[M, N/2]` of an even N.
    * (C12) Memrefs have an innermost stride of 1; all but `a`, `out` and linear
      `a_scales` are contiguous.
    * (C13) `format` and `b_format` have the same scale rule, and a block of
      `format` has one row. There is no `b_format` without `format`.
    * (C14) Data and scales are of the formats' types; without a format data is
      of `f8E4M3FN` or `f8E5M2`.
    * (C15) `a_scales` and `b_scales` are there if there is a `format`, and
      `scale_offsets` if `a_scales` are in `tile128x4`.
    * (C16) `row_scales` holds M entries; `column_scales` and `bias` are `[G,
      N]`.
    * (C17) `b_major(n)` is for a format of `b` that does not transpose, or none.
    * (C18) `epilogue` takes one element, with `pairs` two, of one type, `f32`,
      `bf16` or `f16`, and yields one of the type of `out`.
    * (C19) `pairs` is for an `epilogue`.

    `kernel` says which kernel a GPU runs; see `MmKernelAttr`. The CPU sums in
    float64 in the order of k, GPUs in float32: docs/notes/gpu-grouped-mm.md says
    what that means for each format.

    With M = 0 the op folds to its `outs`.
  }]);
  let arguments = (ins
    OptionalAttr<Gq_FormatAttr>:$format,
    OptionalAttr<Gq_FormatAttr>:$b_format,
    DefaultValuedAttr<Gq_ScaleLayoutAttr, "::gq::ScaleLayout::Tile128x4">
      :$scale_layout,
    DefaultValuedAttr<Gq_MajorAttr, "::gq::Major::K">:$b_major,
    OptionalAttr<Gq_MmKernelAttr>:$kernel,
    DefaultValuedAttr<Gq_PairsAttr, "::gq::Pairs::None">:$pairs,
    Gq_Data2D:$a,
    Gq_Data3D:$b,
    Optional<Gq_Scales2D>:$a_scales,
    Optional<Gq_Scales3D>:$b_scales,
    Gq_Indices:$offsets,
    Optional<Gq_Indices>:$scale_offsets,
    Optional<Gq_F32_1D>:$alpha,
    Optional<Gq_F32_1D>:$row_scales,
    Optional<Gq_F32_2D>:$column_scales,
    Optional<Gq_Float2D>:$bias,
    Gq_Float2D:$out);
  let regions = (region VariadicRegion<SizedRegion<1>>:$epilogue);
  let assemblyFormat = [{
    (`format` `` $format^)? (`b_format` `` $b_format^)?
    (`scale_layout` `` $scale_layout^)? (`b_major` `` $b_major^)?
    (`kernel` `` $kernel^)? (`pairs` `` $pairs^)? attr-dict
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)`
    (`scales` `(` $a_scales^ `,` $b_scales `:`
                  type($a_scales) `,` type($b_scales) `)`)?
    `groups` `(` $offsets (`,` $scale_offsets^)? `:`
                 type($offsets) (`,` type($scale_offsets)^)? `)`
    (`alpha` `(` $alpha^ `:` type($alpha) `)`)?
    (`row_scales` `(` $row_scales^ `:` type($row_scales) `)`)?
    (`column_scales` `(` $column_scales^ `:` type($column_scales) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`epilogue` $epilogue^)?
    `outs` `(` $out `:` type($out) `)`
    (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// grouped_wgrad
//===----------------------------------------------------------------------===//

def Gq_GroupedWgradOp
    : Gq_Op<"grouped_wgrad", "out", [AttrSizedOperandSegments]> {
  let summary = "Multiply two matrices along the rows of each group";
  let description = !strconcat([{
    For each group e, `out[e, n, k] = alpha[e] * sum_i deq(a)[i, n] * deq(b)[i,
    k]` over its rows i: the gradient of the weights, of the output's gradient
    `a`, `[M, N]`, and the input `b`, `[M, K]`. Without `alpha` the factor is 1.
    Sums are kept in float32 or wider and rounded once to the type of `out`; an
    empty group gives 0. Rows in no group are not read.

    `a`, `b` and their scales are the `columnwise_outs` of
    `gq.grouped_block_quantize` over the same groups, so that blocks lie along
    the sum: flat where the format transposes, else `[M, N]` and `[M, K]`.
    The rows that fill a group of flat data up to a multiple of 32 are part of the
    sum: they are zero, or the rest of a block that was transformed. Formats are
    as in `gq.grouped_mm`; without one there are no scales.

    ```mlir
    %dw = gq.grouped_wgrad format(nvfp4)
        ins(%dyt, %xt : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
        scales(%sdyt, %sxt : tensor<?xf8E4M3FN, #gq.tile128x4>,
                             tensor<?xf8E4M3FN, #gq.tile128x4>)
        groups(%offsets : tensor<129xi32>) alpha(%alpha : tensor<128xf32>)
        outs(%dw0 : tensor<128x8192x5120xf32>) -> tensor<128x8192x5120xf32>
    ```}], sharedConstraints, [{
    * (C5) N is a positive multiple of the format's block.
    * (C6) `a` is flat where its format transposes, else `[M, N]` of the
      format's type or `[M, N/2]` of i8 for f4; `b` likewise with K.
    * (C7) `out` is `[G, N, K]`.
    * (C8) `scale_layout` is `linear` for scales of f32, else `tile128x4`. Scales
      in `tile128x4` have that encoding, no other tensor has one.
    * (C9) `offsets` holds G+1 entries.
    * (C10) `alpha` holds G entries.
    * (C11) Memrefs have an innermost stride of 1; all but `a` and `b` of rank 2
      are contiguous.
    * (C12) `format` and `b_format` have the same scale rule. There is no
      `b_format` without `format`.
    * (C13) Data and scales are of the formats' types; without a format data is
      of `f8E4M3FN` or `f8E5M2`.
    * (C14) `a_scales` and `b_scales` are there if there is a `format`.

    `kernel` says which kernel a GPU runs: `tiles128` of sm_90a, by wgmma, or
    `any`. The CPU sums in float64 in the order of i, GPUs in float32:
    docs/notes/gpu-grouped-mm.md says what that means for each format. On a GPU
    an invalid group gives what an empty one does.
  }]);
  let arguments = (ins
    OptionalAttr<Gq_FormatAttr>:$format,
    OptionalAttr<Gq_FormatAttr>:$b_format,
    DefaultValuedAttr<Gq_ScaleLayoutAttr, "::gq::ScaleLayout::Tile128x4">
      :$scale_layout,
    OptionalAttr<Gq_MmKernelAttr>:$kernel,
    Gq_Data:$a,
    Gq_Data:$b,
    Optional<Gq_Scales1D>:$a_scales,
    Optional<Gq_Scales1D>:$b_scales,
    Gq_Indices:$offsets,
    Optional<Gq_F32_1D>:$alpha,
    Gq_Float3D:$out);
  let assemblyFormat = [{
    (`format` `` $format^)? (`b_format` `` $b_format^)?
    (`scale_layout` `` $scale_layout^)? (`kernel` `` $kernel^)? attr-dict
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)`
    (`scales` `(` $a_scales^ `,` $b_scales `:`
                  type($a_scales) `,` type($b_scales) `)`)?
    `groups` `(` $offsets `:` type($offsets) `)`
    (`alpha` `(` $alpha^ `:` type($alpha) `)`)?
    `outs` `(` $out `:` type($out) `)`
    (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// block_dequantize
//===----------------------------------------------------------------------===//

defvar dequantized = [{
    All arithmetic is float32 with one rounding per operation, and the result is
    rounded to nearest even to the type of `out`. NaN is 0x7FFFFFFF, or 0x7FFF in
    16 bits, on CPUs and GPUs.}];

defvar dequantizedEpilogue = [{

    **Epilogue.** With the region `epilogue`, each result is rounded once to the
    type of the region's argument and passed to the region; what that yields is
    stored. The bytes are those of two ops, the second
    of which computes the region; a GPU computes it where it stores the element.
    `gq-fuse-epilogues` makes one of an element-wise `linalg.generic`.}];

def Gq_BlockDequantizeOp : Gq_Op<"block_dequantize", "out",
                                 [IsolatedFromAbove, SingleBlock]> {
  let summary = "The numbers that blocks of codes and their scales stand for";
  let description = !strconcat([{
    The inverse of `gq.block_quantize`: `out[i, k] = code * d`, where d is the
    factor that the scale of the code's block stands for; with a `global_scale`
    g, `code * d / g`. }], dequantized, [{

    ```mlir
    %x = gq.block_dequantize format(nvfp4)
        ins(%q, %s : tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN>)
        outs(%x0 : tensor<?x5120xbf16>) -> tensor<?x5120xbf16>
    ```}], dequantizedEpilogue, sharedConstraints, [{
    * (C5) `data` is `[M, K]` of the format's type or `[M, K/2]` of i8 for f4.
    * (C6) `scales` is `[M, K/block]` of the format's type, or `[M/128, K/128]`
      for blocks of 128 by 128, rounded up.
    * (C7) `scale_layout` is `linear`, and no tensor has an encoding.
    * (C8) Memrefs have an innermost stride of 1.
    * (C9) Only `nvfp4` has a `global_scale`.
    * (C10) `epilogue` takes one element, `f32`, `bf16` or `f16`, and yields one
      of the type of `out`.

    With M = 0 the op folds to its `outs`.
  }]);
  let arguments = (ins
    Gq_FormatAttr:$format,
    DefaultValuedAttr<Gq_ScaleLayoutAttr, "::gq::ScaleLayout::Linear">
      :$scale_layout,
    Gq_Data2D:$data,
    Gq_Scales2D:$scales,
    Optional<Gq_F32Scalar>:$global_scale,
    Gq_Float2D:$out);
  let regions = (region VariadicRegion<SizedRegion<1>>:$epilogue);
  let assemblyFormat = [{
    `format` `` $format (`scale_layout` `` $scale_layout^)? attr-dict
    `ins` `(` $data `,` $scales `:` type($data) `,` type($scales) `)`
    (`global_scale` `(` $global_scale^ `:` type($global_scale) `)`)?
    (`epilogue` $epilogue^)?
    `outs` `(` $out `:` type($out) `)`
    (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// grouped_dequantize
//===----------------------------------------------------------------------===//

def Gq_GroupedDequantizeOp
    : Gq_Op<"grouped_dequantize", "out",
            [AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock]> {
  let summary = "The numbers that codes and scales of groups stand for";
  let description = !strconcat([{
    The inverse of `gq.grouped_block_quantize` in one direction: `data` and
    `scales` are as it wrote them, and `out` has the shape of its input, `[M, K]`
    or, for ragged groups, flat. Rows and elements in no group keep the contents
    of `outs`.

    ```mlir
    %x = gq.grouped_dequantize format(nvfp4)
        ins(%q : tensor<?x5120xf4E2M1FN>)
        scales(%sf : tensor<?x320xf8E4M3FN, #gq.tile128x4>)
        groups(%offsets, %sf_offsets : tensor<129xi32>, tensor<128xi32>)
        outs(%x0 : tensor<?x5120xbf16>) -> tensor<?x5120xbf16>
    ```

    An element is `code * d`, where d is the factor that the scale of the code's
    block stands for; with a `global_scale` g it is `code * d / g`, and in the
    recipe `te` with an `outer_amax` a it is `code * (d * a * (1/2688))`. Where
    codes were made by four over six with `scale_max = 256`, give the op
    `scale_max(256)`: the factor is 1/1536 then.
    }], dequantized, [{

    **Columns.** With `axis(columnwise)`, `data` and `scales` are those of
    `columnwise_outs`. Data that is transposed is transposed back.

    ```mlir
    %x = gq.grouped_dequantize format(nvfp4) recipe(te) axis(columnwise)
        ins(%qt : tensor<?xf4E2M1FN>)
        scales(%sft : tensor<?xf8E4M3FN, #gq.tile128x4>)
        groups(%offsets : tensor<129xi32>) outer_amax(%amax : tensor<128xf32>)
        outs(%x0 : tensor<?x5120xbf16>) -> tensor<?x5120xbf16>
    ```

    **Outer amaxes of rows and columns.** With `outer(row)` a is that of the
    element's row, with `outer(column)` that of its column in its group, as for a
    direction `#gq.direction<outer = row>` or `column`.

    **Transformed columns** are not transformed back: `out` is what the columns
    had become before they were quantized. The random Hadamard transform was
    rounded to bf16, so that its inverse would not give the input, and what it is
    for, `gq.grouped_wgrad`, adds up products in which it cancels.

    **FP8 per tensor.** Without a format there are no blocks: `data` is
    `f8E4M3FN` or `f8E5M2`, and an element is `code * scale_inv`, where
    `scale_inv` is one for all groups or one for each group. Columnwise data is `[K, m32]` a group,
    as `gq.grouped_quantize` writes it.

    ```mlir
    %x = gq.grouped_dequantize
        ins(%q : tensor<?x5120xf8E4M3FN>) groups(%offsets : tensor<17xi32>)
        scale_inv(%s : tensor<16xf32>)
        outs(%x0 : tensor<?x5120xbf16>) -> tensor<?x5120xbf16>
    ```

    **Ragged groups** have `shapes`, as there.}], dequantizedEpilogue, [{

    ```mlir
    %x = gq.grouped_dequantize format(mxfp8_e4m3)
        ins(%q : tensor<?x5120xf8E4M3FN>)
        scales(%sf : tensor<?x160xf8E8M0FNU, #gq.tile128x4>)
        groups(%offsets : tensor<129xi32>)
        epilogue {
        ^bb0(%e: f32):
          %zero = arith.constant 0.0 : f32
          %relu = arith.maximumf %e, %zero : f32
          %rounded = arith.truncf %relu : f32 to bf16
          gq.yield %rounded : bf16
        }
        outs(%x0 : tensor<?x5120xbf16>) -> tensor<?x5120xbf16>
    ```}], sharedConstraints, [{
    * (C5) `scale_offsets` holds G entries, `offsets` G or G+1, of the same
      element type. Without `scale_offsets`, `offsets` holds G+1.
    * (C6) `global_scale`, `outer_amax` and `scale_inv`, if of rank 1, hold G
      entries; `outer_amax` is `[M]` with `outer(row)` and `[G, K]` with
      `outer(column)`, and is of rank 2 in no other case.
    * (C7) `data` is `[M, K]` of the format's type or `[M, K/2]` of i8 for f4. It
      is flat if `out` is, or with `axis(columnwise)` if the format transposes or
      there is none.
    * (C8) `scales` in `tile128x4` is `[rows, K/block rounded up to 4]` with rows
      a multiple of 128, linear `[M, K/block]`. It is flat if `out` is, with
      `axis(columnwise)`, and linear for blocks of 128 by 128.
    * (C9) Scales in `tile128x4` have that encoding, no other tensor has one.
    * (C10) Memrefs have an innermost stride of 1; all but data, linear scales
      and `out` of rank 2 are contiguous.
    * (C11) Data and scales are of the format's types; without a format data is
      of `f8E4M3FN` or `f8E5M2`.
    * (C12) `scales` are there if there is a `format`, and `scale_inv` if not.
    * (C13) Only `nvfp4` has the recipe `te`, and only that recipe has an
      `outer_amax`, which it needs.
    * (C14) Only `nvfp4` with the recipe `nvfuser` has a `global_scale`.
    * (C15) Scales of f32 are `linear`.
    * (C16) `scale_offsets` are for rowwise scales in `tile128x4` of groups of
      rows.
    * (C17) `first_dims` and `last_dims` come together, hold G entries of the
      type of `offsets`, and are there if `out` is flat.
    * (C18) `outer(row)` is for `axis(rowwise)` and `outer(column)` for
      `axis(columnwise)`, both for the recipe `te` without `shapes`.
    * (C19) `epilogue` takes one element, `f32`, `bf16` or `f16`, and yields one
      of the type of `out`. It is for groups without `shapes`.
    * (C20) `scale_max`, if given, is 256 or 448, and for the recipe `te`.

    With M = 0 the op folds to its `outs`.
  }]);
  let arguments = (ins
    OptionalAttr<Gq_FormatAttr>:$format,
    DefaultValuedAttr<Gq_RecipeAttr, "::gq::Recipe::NVFUSER">:$recipe,
    DefaultValuedAttr<Gq_ScaleLayoutAttr, "::gq::ScaleLayout::Tile128x4">
      :$scale_layout,
    DefaultValuedAttr<Gq_AxisAttr, "::gq::Axis::Rowwise">:$axis,
    DefaultValuedAttr<Gq_OuterAttr, "::gq::Outer::Group">:$outer,
    DefaultValuedAttr<I32Attr, "0">:$scale_max,
    Gq_Data:$data,
    Optional<Gq_Scales>:$scales,
    Gq_Indices:$offsets,
    Optional<Gq_Indices>:$scale_offsets,
    Optional<Gq_Indices>:$first_dims,
    Optional<Gq_Indices>:$last_dims,
    Optional<Gq_F32ScalarOr1D>:$global_scale,
    Optional<Gq_F32UpTo2D>:$outer_amax,
    Optional<Gq_F32ScalarOr1D>:$scale_inv,
    Gq_Float1DOr2D:$out);
  let regions = (region VariadicRegion<SizedRegion<1>>:$epilogue);
  let assemblyFormat = [{
    (`format` `` $format^)? (`recipe` `` $recipe^)?
    (`scale_layout` `` $scale_layout^)? (`axis` `` $axis^)?
    (`outer` `` $outer^)? (`scale_max` `` `(` $scale_max^ `)`)? attr-dict
    `ins` `(` $data `:` type($data) `)`
    (`scales` `(` $scales^ `:` type($scales) `)`)?
    `groups` `(` $offsets (`,` $scale_offsets^)? `:`
                 type($offsets) (`,` type($scale_offsets)^)? `)`
    (`shapes` `(` $first_dims^ `,` $last_dims `:`
                  type($first_dims) `,` type($last_dims) `)`)?
    (`global_scale` `(` $global_scale^ `:` type($global_scale) `)`)?
    (`outer_amax` `(` $outer_amax^ `:` type($outer_amax) `)`)?
    (`scale_inv` `(` $scale_inv^ `:` type($scale_inv) `)`)?
    (`epilogue` $epilogue^)?
    `outs` `(` $out `:` type($out) `)`
    (`->` type($results)^)?
  }];
}

#endif // GQ_IR_OPS_TD
