//===- Dialect.cpp - instantiates the gq dialect ----------------*- C++ -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What MLIR has no C API for: the ODS classes, the interfaces attached to them
// and the accessors of enum attributes. No logic: verifiers and
// canonicalization call the C functions of Ops.h.
//
//===----------------------------------------------------------------------===//

#include "gq/IR/Gq.h"

#include "Checks.h"
#include "Ops.h"
#include "Sharding.h"
#include "gq-c/Dialect.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::bufferization;

#include "gq/IR/GqDialect.cpp.inc"
#include "gq/IR/GqEnums.cpp.inc"

//===----------------------------------------------------------------------===//
// Assembly of attributes
//===----------------------------------------------------------------------===//

/// One of `keywords`, which an editor completes and an error lists.
static ParseResult parseOneOf(AsmParser &parser, ArrayRef<StringRef> keywords,
                              StringRef &keyword) {
  SMLoc location = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&keyword, keywords)))
    return success();
  return parser.emitError(location, "expected one of ")
         << llvm::join(keywords, ", ");
}

/// The keywords of an enumeration, in the order of its values.
template <typename Enum> static SmallVector<StringRef> getKeywords() {
  SmallVector<StringRef> keywords;
  static_assert(gq::getMaxEnumValForFormat() < 128);
  for (uint32_t i = 0; i < 128; ++i)
    if (StringRef name = stringifyEnum(static_cast<Enum>(i)); !name.empty())
      keywords.push_back(name);
  return keywords;
}

template <typename Enum>
static ParseResult parseKeyword(AsmParser &parser, Enum &value) {
  StringRef keyword;
  if (parseOneOf(parser, getKeywords<Enum>(), keyword))
    return failure();
  value = *gq::symbolizeEnum<Enum>(keyword);
  return success();
}

template <typename Enum>
static void printKeyword(AsmPrinter &printer, Enum value) {
  printer << stringifyEnum(value);
}

/// Rows and columns, such as 1x16.
static ParseResult parseBlock(AsmParser &parser, SmallVector<int64_t> &block) {
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseDimensionList(block, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  return block.size() == 2
             ? success()
             : ParseResult(parser.emitError(
                   location, "expected the rows and columns of a block"));
}

#define GET_ATTRDEF_CLASSES
#include "gq/IR/GqAttrs.cpp.inc"

/// Such as <rounding = stochastic, block = 16x16>, each part once.
Attribute gq::DirectionAttr::parse(AsmParser &parser, Type) {
  std::optional<Rounding> rounding;
  std::optional<Transform> transform;
  std::optional<uint32_t> signs, scaleMax;
  SmallVector<int64_t> block;
  std::optional<Outer> outer;
  std::optional<FourOverSix> fourOverSix;
  using Part = std::pair<StringRef, std::function<ParseResult()>>;
  SmallVector<Part> left = {
      {"rounding", [&] { return parseKeyword(parser, rounding.emplace()); }},
      {"transform", [&] { return parseKeyword(parser, transform.emplace()); }},
      {"signs", [&] { return parser.parseInteger(signs.emplace()); }},
      {"block", [&] { return parseBlock(parser, block); }},
      {"outer", [&] { return parseKeyword(parser, outer.emplace()); }},
      {"four_over_six",
       [&] { return parseKeyword(parser, fourOverSix.emplace()); }},
      {"scale_max", [&] { return parser.parseInteger(scaleMax.emplace()); }}};
  auto parsePart = [&] {
    StringRef name;
    if (parseOneOf(parser, llvm::to_vector(llvm::make_first_range(left)),
                   name) ||
        parser.parseEqual())
      return failure();
    Part *part = llvm::find_if(left, [&](Part &p) { return p.first == name; });
    ParseResult result = part->second();
    left.erase(part);
    return LogicalResult(result);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parsePart))
    return {};
  return get(parser.getContext(), rounding, transform, signs, block, outer,
             fourOverSix, scaleMax);
}

void gq::DirectionAttr::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  llvm::ListSeparator separator;
  os << '<';
  if (getRounding())
    os << separator << "rounding = " << stringifyEnum(*getRounding());
  if (getTransform())
    os << separator << "transform = " << stringifyEnum(*getTransform());
  if (getSigns())
    os << separator
       << "signs = " << llvm::format_hex(*getSigns(), 6, /*Upper=*/true);
  if (!getBlock().empty())
    os << separator << "block = " << getBlock()[0] << 'x' << getBlock()[1];
  if (getOuter())
    os << separator << "outer = " << stringifyEnum(*getOuter());
  if (getFourOverSix())
    os << separator << "four_over_six = " << stringifyEnum(*getFourOverSix());
  if (getScaleMax())
    os << separator << "scale_max = " << *getScaleMax();
  os << '>';
}

namespace gq {
#include "gq/IR/GqTypeConstraints.cpp.inc"
} // namespace gq

/// Reads the attributes of an op from bytecode, a dictionary: one that an older
/// gq did not have is missing there, and has the value of one that is left out.
template <typename OpTy>
static LogicalResult readNamedProperties(DialectBytecodeReader &reader,
                                         OperationState &state) {
  if (failed(reader.getDialectVersion<gq::GqDialect>()))
    return reader.emitError(
        "bytecode of the gq dialect without a version is not read");
  DictionaryAttr attributes;
  if (failed(reader.readAttribute(attributes)))
    return failure();
  return OpTy::setPropertiesFromAttr(
      state.getOrAddProperties<typename OpTy::Properties>(), attributes,
      [&] { return reader.emitError(); });
}

#define GET_OP_CLASSES
#include "gq/IR/GqOps.cpp.inc"

#define GQ_ASSERT_FORMAT(VALUE, NAME, ...)                                     \
  static_assert(int(gq::Format::NAME) == GQ_FORMAT_##NAME);
GQ_ALL_FORMATS(GQ_ASSERT_FORMAT)
static_assert(int(gq::Recipe::NVFUSER) == GQ_RECIPE_NVFUSER);
static_assert(int(gq::Recipe::TE) == GQ_RECIPE_TE);
static_assert(int(gq::Rounding::Nearest) == GQ_ROUNDING_NEAREST);
static_assert(int(gq::Rounding::Stochastic) == GQ_ROUNDING_STOCHASTIC);
static_assert(int(gq::Transform::None) == GQ_TRANSFORM_NONE);
static_assert(int(gq::Transform::Hadamard16) == GQ_TRANSFORM_HADAMARD16);
static_assert(int(gq::Outer::Group) == GQ_OUTER_OF_GROUP);
static_assert(int(gq::Outer::Row) == GQ_OUTER_OF_ROW);
static_assert(int(gq::Outer::Column) == GQ_OUTER_OF_COLUMN);
static_assert(int(gq::FourOverSix::None) == GQ_FOUR_OVER_SIX_NONE);
static_assert(int(gq::FourOverSix::MAE) == GQ_FOUR_OVER_SIX_MAE);
static_assert(int(gq::FourOverSix::MSE) == GQ_FOUR_OVER_SIX_MSE);
static_assert(int(gq::ScaleLayout::Linear) == GQ_SCALE_LAYOUT_LINEAR);
static_assert(int(gq::ScaleLayout::Tile128x4) == GQ_SCALE_LAYOUT_TILE128X4);
static_assert(int(gq::Major::K) == GQ_MAJOR_K);
static_assert(int(gq::Major::N) == GQ_MAJOR_N);
static_assert(int(gq::Rows::All) == GQ_ROWS_ALL);
static_assert(int(gq::Rows::Grouped) == GQ_ROWS_GROUPED);
static_assert(int(gq::Pairs::None) == GQ_PAIRS_NONE);
static_assert(int(gq::Pairs::Interleaved) == GQ_PAIRS_INTERLEAVED);
static_assert(int(gq::Pairs::Halves) == GQ_PAIRS_HALVES);
static_assert(int(gq::Axis::Rowwise) == GQ_AXIS_ROWWISE);
static_assert(int(gq::Axis::Columnwise) == GQ_AXIS_COLUMNWISE);
static_assert(int(gq::AmaxAlgo::Max) == GQ_AMAX_ALGO_MAX);
static_assert(int(gq::AmaxAlgo::MostRecent) == GQ_AMAX_ALGO_MOST_RECENT);
static_assert(int(gq::MmKernel::Auto) == GQ_MM_KERNEL_AUTO);
static_assert(int(gq::MmKernel::Any) == GQ_MM_KERNEL_ANY);
static_assert(int(gq::MmKernel::Decode8) == GQ_MM_KERNEL_DECODE8);
static_assert(int(gq::MmKernel::Decode16) == GQ_MM_KERNEL_DECODE16);
static_assert(int(gq::MmKernel::Tiles32) == GQ_MM_KERNEL_TILES32);
static_assert(int(gq::MmKernel::Tiles64) == GQ_MM_KERNEL_TILES64);
static_assert(int(gq::MmKernel::Tiles128) == GQ_MM_KERNEL_TILES128);
static_assert(int(gq::MmKernel::Tiles256) == GQ_MM_KERNEL_TILES256);

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

namespace {
/// Bufferizes any gq op: the same op on the buffers of its tensors.
template <typename OpTy>
struct Bufferization
    : DstBufferizableOpInterfaceExternalModel<Bufferization<OpTy>, OpTy> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto dps = cast<DestinationStyleOpInterface>(op);
    if (!dps.hasPureTensorSemantics())
      return success();
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    OperationState onBuffers(op->getLoc(), op->getName(), buffers, TypeRange(),
                             op->getAttrs());
    for (Region &region : op->getRegions())
      onBuffers.addRegion()->takeBody(region);
    rewriter.create(onBuffers);
    replaceOpWithBufferizedValues(
        rewriter, op, ArrayRef(buffers).take_back(op->getNumResults()));
    return success();
  }
};
} // namespace

namespace {
/// A function with gq ops can be inlined, wherever that is legal for its other
/// ops; nothing is inlined into a producer.
struct Inliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

namespace {
/// The version of the dialect in bytecode. An attribute is in it as its text,
/// under its name.
struct Bytecode : BytecodeDialectInterface {
  Bytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}
  struct Version : DialectVersion {
    uint64_t number = 0;
  };
  void writeVersion(DialectBytecodeWriter &writer) const final {
    writer.writeVarInt(GQ_BYTECODE_VERSION);
  }
  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const final {
    auto version = std::make_unique<Version>();
    if (failed(reader.readVarInt(version->number)))
      return nullptr;
    if (version->number <= GQ_BYTECODE_VERSION)
      return version;
    reader.emitError() << "bytecode of the gq dialect has version "
                       << version->number << ", and this gq reads up to "
                       << int(GQ_BYTECODE_VERSION);
    return nullptr;
  }
};
} // namespace

/// A memref of `ins` is read; one of `outs` is written, and read where the op
/// leaves elements alone. Tensors have no effects.
static void
getMemRefEffects(DestinationStyleOpInterface op,
                 SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

/// A result has the extents of the operand of `outs` that it is tied to.
static LogicalResult reifyShapes(DestinationStyleOpInterface op,
                                 OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  for (OpResult result : op->getResults())
    shapes.push_back(tensor::getMixedSizes(builder, op.getLoc(),
                                           op.getTiedOpOperand(result)->get()));
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult gq::verifyOperandTypes(Operation *op,
                                     const gqOperandType *types) {
  return success(gqCheckOperandTypes(wrap(op), types));
}

#define GQ_OP(OP, MNEMONIC)                                                    \
  LogicalResult gq::OP##Op::verify() {                                         \
    return unwrap(gq##OP##Verify(wrap(getOperation())));                       \
  }                                                                            \
  LogicalResult gq::OP##Op::canonicalize(OP##Op op, PatternRewriter &r) {      \
    return unwrap(gqCanonicalizeZeroRows(wrap(op.getOperation()), wrap(&r)));  \
  }                                                                            \
  void gq::OP##Op::getEffects(                                                 \
      SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {               \
    getMemRefEffects(*this, effects);                                          \
  }                                                                            \
  Speculation::Speculatability gq::OP##Op::getSpeculatability() {              \
    return gqCannotFail(wrap(getOperation())) ? Speculation::Speculatable      \
                                              : Speculation::NotSpeculatable;  \
  }                                                                            \
  LogicalResult gq::OP##Op::reifyResultShapes(                                 \
      OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {               \
    return reifyShapes(*this, builder, shapes);                                \
  }                                                                            \
  bool gqOperationIsA##OP(MlirOperation op) {                                  \
    return isa<gq::OP##Op>(unwrap(op));                                        \
  }
#include "gq/Runtime/Ops.def"

// The lists of Ops.def have the operands of GqOps.td, in that order.
#define GQ_OPERAND(OP, UPPER, NAME, FIELD, MEMBER, PRESENCE, ROLE)             \
  static_assert(gq::OP##Op::odsIndex_##NAME == GQ_##UPPER##_##NAME);
#include "gq/Runtime/Ops.def"
// Nor has GqOps.td more of them: all but one optional operand are required, or
// there are segments.
static_assert(
    gq::BlockQuantizeOp::hasTrait<
        OpTrait::AtLeastNOperands<GQ_BLOCK_QUANTIZE_NUM_OPERANDS - 1>::Impl>());
static_assert(gq::PreprocessGroupedMatmulSfOp::hasTrait<OpTrait::NOperands<
                  GQ_PREPROCESS_GROUPED_MATMUL_SF_NUM_OPERANDS>::Impl>());
static_assert(
    sizeof(gq::GroupedBlockQuantizeOp::Properties::operandSegmentSizes) ==
    GQ_GROUPED_BLOCK_QUANTIZE_NUM_OPERANDS * sizeof(int32_t));
static_assert(sizeof(gq::GroupedAmaxOp::Properties::operandSegmentSizes) ==
              GQ_GROUPED_AMAX_NUM_OPERANDS * sizeof(int32_t));
static_assert(sizeof(gq::GroupedQuantizeOp::Properties::operandSegmentSizes) ==
              GQ_GROUPED_QUANTIZE_NUM_OPERANDS * sizeof(int32_t));
static_assert(gq::UpdateScalesOp::hasTrait<
              OpTrait::NOperands<GQ_UPDATE_SCALES_NUM_OPERANDS>::Impl>());
static_assert(
    gq::GroupOffsetsOp::hasTrait<
        OpTrait::AtLeastNOperands<GQ_GROUP_OFFSETS_NUM_OPERANDS - 1>::Impl>());
static_assert(sizeof(gq::GroupedMmOp::Properties::operandSegmentSizes) ==
              GQ_GROUPED_MM_NUM_OPERANDS * sizeof(int32_t));
static_assert(sizeof(gq::GroupedWgradOp::Properties::operandSegmentSizes) ==
              GQ_GROUPED_WGRAD_NUM_OPERANDS * sizeof(int32_t));
static_assert(gq::BlockDequantizeOp::hasTrait<OpTrait::AtLeastNOperands<
                  GQ_BLOCK_DEQUANTIZE_NUM_OPERANDS - 1>::Impl>());
static_assert(
    sizeof(gq::GroupedDequantizeOp::Properties::operandSegmentSizes) ==
    GQ_GROUPED_DEQUANTIZE_NUM_OPERANDS * sizeof(int32_t));

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

void gq::GqDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "gq/IR/GqAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gq/IR/GqOps.cpp.inc"
      >();
  addInterfaces<Bytecode, Inliner>();
#define GQ_OP(OP, MNEMONIC)                                                    \
  OP##Op::attachInterface<Bufferization<OP##Op>>(*getContext());
#include "gq/Runtime/Ops.def"
  attachSharding(getContext());
}

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Gq, gq, gq::GqDialect)

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

#define GQ_DEFINE_ENUM_ATTR(ENUM)                                              \
  MlirAttribute gq##ENUM##AttrGet(MlirContext context, gq##ENUM value) {       \
    return wrap(                                                               \
        gq::ENUM##Attr::get(unwrap(context), static_cast<gq::ENUM>(value)));   \
  }                                                                            \
  gq##ENUM gq##ENUM##AttrGetValue(MlirAttribute attribute) {                   \
    return static_cast<gq##ENUM>(                                              \
        cast<gq::ENUM##Attr>(unwrap(attribute)).getValue());                   \
  }
GQ_DEFINE_ENUM_ATTR(Format)
GQ_DEFINE_ENUM_ATTR(Recipe)
GQ_DEFINE_ENUM_ATTR(ScaleLayout)
GQ_DEFINE_ENUM_ATTR(Major)
GQ_DEFINE_ENUM_ATTR(Rows)
GQ_DEFINE_ENUM_ATTR(Axis)
GQ_DEFINE_ENUM_ATTR(Outer)
GQ_DEFINE_ENUM_ATTR(AmaxAlgo)
GQ_DEFINE_ENUM_ATTR(MmKernel)
GQ_DEFINE_ENUM_ATTR(Pairs)

const char *gqEnumGetKeyword(const char *enumeration, intptr_t number) {
  using Keywords = SmallVector<StringRef> (*)();
  auto get =
      llvm::StringSwitch<Keywords>(enumeration)
          .Case(gq::FormatAttr::getMnemonic(), getKeywords<gq::Format>)
          .Case(gq::RecipeAttr::getMnemonic(), getKeywords<gq::Recipe>)
          .Case(gq::ScaleLayoutAttr::getMnemonic(),
                getKeywords<gq::ScaleLayout>)
          .Case(gq::MajorAttr::getMnemonic(), getKeywords<gq::Major>)
          .Case(gq::RowsAttr::getMnemonic(), getKeywords<gq::Rows>)
          .Case(gq::AxisAttr::getMnemonic(), getKeywords<gq::Axis>)
          .Case(gq::OuterAttr::getMnemonic(), getKeywords<gq::Outer>)
          .Case(gq::AmaxAlgoAttr::getMnemonic(), getKeywords<gq::AmaxAlgo>)
          .Case(gq::MmKernelAttr::getMnemonic(), getKeywords<gq::MmKernel>)
          .Case(gq::PairsAttr::getMnemonic(), getKeywords<gq::Pairs>)

          .Case("rounding", getKeywords<gq::Rounding>)
          .Case("transform", getKeywords<gq::Transform>)
          .Case("four_over_six", getKeywords<gq::FourOverSix>)
          .Default(nullptr);
  SmallVector<StringRef> keywords = get ? get() : SmallVector<StringRef>();
  bool exists = number >= 0 && number < static_cast<intptr_t>(keywords.size());
  return exists ? keywords[number].data() : nullptr;
}

/// `value` unless it is 0.
template <typename T, typename From>
static std::optional<T> unlessZero(From value) {
  return value ? std::optional<T>(static_cast<T>(value)) : std::nullopt;
}
MlirAttribute gqDirectionAttrGet(MlirContext context,
                                 const gqDirectionTraits *traits) {
  int64_t block[] = {traits->blockRows, traits->blockColumns};
  return wrap(gq::DirectionAttr::get(
      unwrap(context), static_cast<gq::Rounding>(traits->rounding),
      static_cast<gq::Transform>(traits->transform),
      unlessZero<uint32_t>(traits->signs), ArrayRef(block, block[0] ? 2 : 0),
      unlessZero<gq::Outer>(traits->outer),
      unlessZero<gq::FourOverSix>(traits->fourOverSix),
      unlessZero<uint32_t>(traits->scaleMax)));
}
gqDirectionTraits gqDirectionAttrGetTraits(MlirAttribute attribute) {
  auto direction = cast<gq::DirectionAttr>(unwrap(attribute));
  ArrayRef<int64_t> block = direction.getBlock();
  gqDirectionTraits traits = {};
  traits.rounding = static_cast<gqRounding>(
      direction.getRounding().value_or(gq::Rounding::Nearest));
  traits.transform = static_cast<gqTransform>(
      direction.getTransform().value_or(gq::Transform::None));
  traits.signs = direction.getSigns().value_or(0);
  traits.outer =
      static_cast<gqOuter>(direction.getOuter().value_or(gq::Outer::Group));
  traits.fourOverSix = static_cast<gqFourOverSix>(
      direction.getFourOverSix().value_or(gq::FourOverSix::None));
  traits.scaleMax = static_cast<int32_t>(direction.getScaleMax().value_or(0));
  traits.blockRows = block.empty() ? 0 : block.front();
  traits.blockColumns = block.empty() ? 0 : block.back();
  return traits;
}
bool gqAttributeIsADirection(MlirAttribute attribute) {
  return isa_and_nonnull<gq::DirectionAttr>(unwrap(attribute));
}

MlirAttribute gqTile128x4AttrGet(MlirContext context) {
  return wrap(gq::Tile128x4Attr::get(unwrap(context)));
}
bool gqAttributeIsATile128x4(MlirAttribute attribute) {
  return isa_and_nonnull<gq::Tile128x4Attr>(unwrap(attribute));
}
