//===- Passes.cpp - registers the gq passes ---------------------*- C++ -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What MLIR has no C API for: declaring, registering and naming passes, nested
// pipelines, memory effects, equivalence and remarks. No logic: a pass calls
// the C function of Passes.h.
//
//===----------------------------------------------------------------------===//

#include "gq-c/Passes.h"
#include "Functions.h"
#include "Passes.h"
#include "Remarks.h"
#include "Toolkit.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

// Dialects that passes depend on, without their ops, which would make this file
// take half as long again to compile.
#include "mlir/Dialect/Bufferization/IR/BufferizationOpsDialect.h.inc"
#include "mlir/Dialect/Func/IR/FuncOpsDialect.h.inc"
#include "mlir/Dialect/LLVMIR/NVVMOpsDialect.h.inc"
#include "mlir/Dialect/Linalg/IR/LinalgOpsDialect.h.inc"
#include "mlir/Dialect/MemRef/IR/MemRefOpsDialect.h.inc"
#include "mlir/Dialect/SCF/IR/SCFOpsDialect.h.inc"
#include "mlir/Dialect/Tensor/IR/TensorOpsDialect.h.inc"

using namespace mlir;

namespace gq {
#define GEN_PASS_DECL
#include "gq/Lowering/Passes.h.inc"

#define GQ_DEFINE_PASS(PASS, BODY)                                             \
  struct PASS##Pass : impl::PASS##Base<PASS##Pass> {                           \
    void runOnOperation() override {                                           \
      if (failed(                                                              \
              unwrap(BODY(wrap(static_cast<Operation *>(getOperation()))))))   \
        signalPassFailure();                                                   \
    }                                                                          \
  };
#define GQ_DEFINE_INFALLIBLE_PASS(PASS, BODY)                                  \
  struct PASS##Pass : impl::PASS##Base<PASS##Pass> {                           \
    void runOnOperation() override {                                           \
      BODY(wrap(static_cast<Operation *>(getOperation())));                    \
    }                                                                          \
  };
#define GEN_PASS_DEF_GQCHECKNAMES
#define GEN_PASS_DEF_GQCHECKTYPES
#define GEN_PASS_DEF_GQPACKSUBBYTE
#define GEN_PASS_DEF_GQFUSEDIRECTIONS
#define GEN_PASS_DEF_GQFUSEFAKEQUANTIZE
#define GEN_PASS_DEF_GQFUSEPRODUCERS
#define GEN_PASS_DEF_GQFUSEROWAMAX
#define GEN_PASS_DEF_GQFUSEROWGATHER
#define GEN_PASS_DEF_GQEXPANDPRODUCERS
#define GEN_PASS_DEF_GQEXPANDEPILOGUES
#define GEN_PASS_DEF_GQFUSEEPILOGUES
#define GEN_PASS_DEF_GQPROTECTARGUMENTS
#define GEN_PASS_DEF_GQFRESHINITS
#define GEN_PASS_DEF_GQSTRICTFLOATS
#define GEN_PASS_DEF_GQEXPANDSMALLFLOATS
#define GEN_PASS_DEF_GQFINALIZEBOUNDARY
#define GEN_PASS_DEF_CONVERTGQTORUNTIME
#define GEN_PASS_DEF_GQCHOOSEKERNELS
#define GEN_PASS_DEF_CONVERTGQTOGPU
#define GEN_PASS_DEF_GQCOLLAPSELOOPS
#define GEN_PASS_DEF_GQDEVICEMEMORY
#define GEN_PASS_DEF_GQLOWERDEALLOCATIONS
#define GEN_PASS_DEF_GQPREPAREKERNELS
#define GEN_PASS_DEF_GQSHAREKERNELS
#define GEN_PASS_DEF_GQATTACHTARGET
#define GEN_PASS_DEF_GQMODULESTOBINARIES
#define GEN_PASS_DEF_GQFUSESCALELAYOUT
#include "gq/Lowering/Passes.h.inc"

namespace {
GQ_DEFINE_PASS(GqCheckNames, gqCheckNames)
GQ_DEFINE_PASS(GqCheckTypes, gqCheckTypes)
GQ_DEFINE_PASS(GqPackSubbyte, gqPackSubbyte)
GQ_DEFINE_PASS(GqProtectArguments, gqProtectArguments)
GQ_DEFINE_PASS(GqExpandSmallFloats, gqExpandSmallFloats)
GQ_DEFINE_PASS(GqFinalizeBoundary, gqFinalizeBoundary)
GQ_DEFINE_PASS(ConvertGqToRuntime, gqConvertToRuntime)
GQ_DEFINE_PASS(GqDeviceMemory, gqDeviceMemory)
struct ConvertGqToGpuPass : impl::ConvertGqToGpuBase<ConvertGqToGpuPass> {
  using ConvertGqToGpuBase::ConvertGqToGpuBase;
  void runOnOperation() override {
    if (failed(unwrap(gqConvertToGpu(wrap(getOperation().getOperation()),
                                     chip.c_str(), fuseQuantization))))
      signalPassFailure();
  }
};
struct GqAttachTargetPass : impl::GqAttachTargetBase<GqAttachTargetPass> {
  using GqAttachTargetBase::GqAttachTargetBase;
  void runOnOperation() override {
    if (failed(unwrap(gqAttachTarget(wrap(getOperation().getOperation()),
                                     chip.c_str(), opt))))
      signalPassFailure();
  }
};
struct GqModulesToBinariesPass
    : impl::GqModulesToBinariesBase<GqModulesToBinariesPass> {
  using GqModulesToBinariesBase::GqModulesToBinariesBase;
  OpPassManager pipeline() const {
    OpPassManager pm(ModuleOp::getOperationName());
    GpuModuleToBinaryPassOptions options;
    options.compilationTarget = format;
    options.toolkitPath = toolkit;
    pm.nest<ModuleOp>().addPass(createGpuModuleToBinaryPass(options));
    return pm;
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    pipeline().getDependentDialects(registry);
  }
  void runOnOperation() override {
    MlirOperation separated =
        gqSeparateGpuModules(wrap(getOperation().getOperation()));
    OpPassManager pm = pipeline();
    if (failed(runPipeline(pm, unwrap(separated))))
      signalPassFailure();
    gqJoinGpuModules(separated);
  }
};
struct GqChooseKernelsPass : impl::GqChooseKernelsBase<GqChooseKernelsPass> {
  using GqChooseKernelsBase::GqChooseKernelsBase;
  void runOnOperation() override {
    if (failed(unwrap(gqChooseKernels(wrap(getOperation().getOperation()),
                                      chip.c_str()))))
      signalPassFailure();
  }
};
struct GqFuseEpiloguesPass : impl::GqFuseEpiloguesBase<GqFuseEpiloguesPass> {
  using GqFuseEpiloguesBase::GqFuseEpiloguesBase;
  void runOnOperation() override {
    gqFuseEpilogues(wrap(getOperation()), dequantize);
  }
};
struct GqFuseFakeQuantizePass
    : impl::GqFuseFakeQuantizeBase<GqFuseFakeQuantizePass> {
  using GqFuseFakeQuantizeBase::GqFuseFakeQuantizeBase;
  void runOnOperation() override {
    gqFuseFakeQuantize(wrap(getOperation()), kernels);
  }
};
struct GqExpandEpiloguesPass
    : impl::GqExpandEpiloguesBase<GqExpandEpiloguesPass> {
  using GqExpandEpiloguesBase::GqExpandEpiloguesBase;
  void runOnOperation() override {
    gqExpandEpilogues(wrap(getOperation()), kernels);
  }
};
GQ_DEFINE_INFALLIBLE_PASS(GqFuseScaleLayout, gqFuseScaleLayout)
GQ_DEFINE_INFALLIBLE_PASS(GqFuseDirections, gqFuseDirections)
GQ_DEFINE_INFALLIBLE_PASS(GqFuseRowAmax, gqFuseRowAmax)
GQ_DEFINE_INFALLIBLE_PASS(GqFuseRowGather, gqFuseRowGathers)
GQ_DEFINE_INFALLIBLE_PASS(GqFuseProducers, gqFuseProducers)
GQ_DEFINE_INFALLIBLE_PASS(GqExpandProducers, gqExpandProducers)
GQ_DEFINE_INFALLIBLE_PASS(GqFreshInits, gqFreshInits)
GQ_DEFINE_INFALLIBLE_PASS(GqStrictFloats, gqStrictFloats)
GQ_DEFINE_INFALLIBLE_PASS(GqLowerDeallocations, gqLowerDeallocations)
GQ_DEFINE_INFALLIBLE_PASS(GqPrepareKernels, gqPrepareKernels)
GQ_DEFINE_INFALLIBLE_PASS(GqCollapseLoops, gqCollapseLoops)
GQ_DEFINE_INFALLIBLE_PASS(GqShareKernels, gqShareKernels)

struct NvvmPipelineOptions : PassPipelineOptions<NvvmPipelineOptions> {
  Option<bool> fuse{*this, "fuse", llvm::cl::init(true),
                    llvm::cl::desc("Fuse the graph's ops")};
  Option<bool> fuseQuantization{
      *this, "fuse-quantization", llvm::cl::init(false),
      llvm::cl::desc("Have the kernels of matmuls quantize their outputs")};
  Option<std::string> chip{*this, "chip", llvm::cl::init("sm_90a"),
                           llvm::cl::desc("sm_90a, sm_100a or sm_120a")};
  Option<std::string> format{
      *this, "format", llvm::cl::init("fatbin"),
      llvm::cl::desc("What a kernel becomes: fatbin, bin or isa (PTX)")};
  Option<int> opt{*this, "opt", llvm::cl::init(3),
                  llvm::cl::desc("Optimization level of kernels, 0 to 3")};
};

using ErrorHandler = function_ref<LogicalResult(const Twine &)>;

/// Appends the passes of a pipeline's text, which it frees. Fails where a tool
/// has not registered the upstream passes.
LogicalResult append(OpPassManager &pm, char *text, ErrorHandler fail) {
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  LogicalResult result = parsePassPipeline(text, pm, stream);
  free(text);
  return succeeded(result) ? success() : fail(errors);
}

struct CpuPipelineOptions : PassPipelineOptions<CpuPipelineOptions> {
  Option<bool> fuse{*this, "fuse", llvm::cl::init(true),
                    llvm::cl::desc("Fuse the graph's ops")};
};

LogicalResult buildCpu(OpPassManager &pm, const CpuPipelineOptions &options,
                       ErrorHandler fail) {
  return append(pm, gqCpuPipeline(options.fuse), fail);
}

LogicalResult buildNvvm(OpPassManager &pm, const NvvmPipelineOptions &options,
                        ErrorHandler fail) {
  if (const char *error =
          gqNvvmOptionsCheck(options.format.c_str(), options.opt))
    return fail(error);
  pm.addPass(createGqChooseKernels({options.chip}));
  if (failed(append(pm, gqNvvmPipelineToBuffers(options.fuse), fail)))
    return failure();
  pm.addPass(createConvertGqToGpu({options.chip, options.fuseQuantization}));
  if (failed(append(pm, gqNvvmPipelineToKernels(), fail)))
    return failure();
  pm.addPass(createGqAttachTarget({options.chip, options.opt}));
  if (failed(append(pm, gqNvvmPipelineToLlvm(), fail)))
    return failure();
  const char *toolkit = gqCudaToolkit();
  pm.addPass(
      createGqModulesToBinaries({options.format, toolkit ? toolkit : ""}));
  return success();
}

/// PassPipelineRegistration for a pipeline that can fail.
template <typename Options>
void registerPipeline(StringRef name, StringRef description,
                      LogicalResult (*build)(OpPassManager &, const Options &,
                                             ErrorHandler)) {
  registerPassPipeline(
      name, description,
      [build](OpPassManager &pm, StringRef text, ErrorHandler fail) {
        Options options;
        std::string errors;
        llvm::raw_string_ostream stream(errors);
        if (failed(options.parseFromString(text, stream)))
          return fail(errors);
        return build(pm, options, fail);
      },
      [](function_ref<void(const detail::PassOptions &)> handle) {
        handle(Options());
      });
}
} // namespace

#define GEN_PASS_REGISTRATION
#include "gq/Lowering/Passes.h.inc"
} // namespace gq

void gqRegisterPasses() {
  gq::registerGqPasses();
  gq::registerPipeline("gq-to-cpu",
                       "From gq and linalg on tensors to the LLVM dialect",
                       gq::buildCpu);
  gq::registerPipeline(
      "gq-to-nvvm",
      "From gq on tensors to the LLVM dialect with kernels for NVIDIA GPUs",
      gq::buildNvvm);
}

bool gqOnlyReads(MlirOperation op, intptr_t operand) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(unwrap(op));
  SmallVector<MemoryEffects::EffectInstance> all;
  if (!effects)
    return false;
  effects.getEffects(all);
  return llvm::all_of(all, [&](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Read>(effect.getEffect()) ||
           (effect.getValue() &&
            effect.getValue() != unwrap(op)->getOperand(operand));
  });
}

bool gqAreEquivalent(MlirOperation a, MlirOperation b) {
  return OperationEquivalence::isEquivalentTo(
      unwrap(a), unwrap(b), OperationEquivalence::IgnoreLocations);
}

void gqRemarkMissed(MlirLocation location, const char *pass,
                    const char *message) {
  remark::missed(unwrap(location),
                 remark::RemarkOpts::name(pass).category(pass))
      << message;
}

void gqRemarkPassed(MlirLocation location, const char *pass,
                    const char *message) {
  remark::passed(unwrap(location),
                 remark::RemarkOpts::name(pass).category(pass))
      << message;
}
