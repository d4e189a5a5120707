//===- Passes.td - passes of gq ----------------------------*- tablegen -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LOWERING_PASSES_TD
#define GQ_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def GqFuseScaleLayout : Pass<"gq-fuse-scale-layout"> {
  let summary = "Quantize and lay out the scales in one op";
  let description = [{
    Replaces a `gq.block_quantize` and the `gq.preprocess_grouped_matmul_sf` of
    its scales by one `gq.grouped_block_quantize`. The bytes of both results
    stay the same, even for rows in no group: the fused op is `rows(all)`. It
    becomes `rows(grouped)` where each user of the data is a `gq.grouped_mm`
    over the same groups, which reads no other rows.

    A pair is left alone, and a missed remark of the category
    `gq-fuse-scale-layout` says why (`--remarks-filter=gq-fuse-scale-layout
    --remark-format=emitRemark`), if the linear scales have another user, if the
    two ops are in different blocks, or if the data is used before the groups
    are known. A passed remark says what was fused.
  }];
}

def GqFuseRowGather : Pass<"gq-fuse-row-gather"> {
  let summary = "Gather rows where they are quantized";
  let description = [{
    Where an input of a `gq.grouped_block_quantize` consists of rows of another
    tensor, selected by an index tensor, the op reads those rows through its
    `row_indices`, and the sorted rows are never stored. The pass recognizes
    `tensor.gather` of `gather_dims([0])` and the usual `linalg.generic`,

    ```mlir
    ^bb0(%i: i32, %out: bf16):
      %row = arith.index_cast %i : i32 to index
      %k = linalg.index 1 : index
      %e = tensor.extract %tokens[%row, %k] : tensor<?x5120xbf16>
      linalg.yield %e : bf16
    ```

    Other users of the gathered rows do not matter: reading them here instead of
    there costs nothing.

    A gather is left alone, and a missed remark of the category
    `gq-fuse-row-gather` says why, if the op already gathers by another index
    tensor, if the indices are not i32 or i64, or if the pass cannot tell that
    whole rows are gathered. A passed remark says what was fused.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def GqFuseDirections : Pass<"gq-fuse-directions"> {
  let summary = "Quantize rows and columns of one tensor in one op";
  let description = [{
    Replaces a `gq.grouped_block_quantize` that has `outs` and one that has
    `columnwise_outs`, both of the same input and groups, by one op with both,
    which reads the input once. The outer amax of the columns becomes
    `columnwise_outer_amax` where it differs from that of the rows. The bytes of
    all results stay the same.

    A pair is left alone, and a missed remark of the category
    `gq-fuse-directions` says why, if the two ops differ in format, recipe,
    scale layout, groups or global scale, are in different blocks, both return
    amax or both return dbias, if the rowwise one makes numbers in place of
    codes, if one has a producer (`gq-fuse-producers` comes after this pass), or
    if a result of one is used before the operands of the other are known. A
    passed remark says what was fused.
  }];
}

def GqFuseRowAmax : Pass<"gq-fuse-row-amax"> {
  let summary = "Compute the amaxes of rows where the rows are quantized";
  let description = [{
    Replaces a `gq.grouped_amax` that returns only `row_amax` and the
    `gq.grouped_block_quantize` of the same rows with `outer = row` by one op
    with `row_amax_out`, which reads the input once. The bytes of all results
    stay the same.

    A pair is left alone, and a missed remark of the category `gq-fuse-row-amax`
    says why, if the ops differ in input, groups, `rows` or `noop_flag`, if one
    has a producer (`gq-fuse-producers` comes after this pass), if the op also
    quantizes columns or computes sums, if K is not static or a row does not fit
    on the chip, or if the amaxes are used before that op. A passed remark says
    what was fused.
  }];
}

def GqFuseFakeQuantize : Pass<"gq-fuse-fake-quantize"> {
  let summary = "Quantize and dequantize in one op";
  let description = [{
    Replaces a `gq.grouped_dequantize` and the `gq.grouped_block_quantize` or
    `gq.grouped_quantize` that made its codes by one op whose `data` or
    `columnwise_data` are the numbers that the codes stand for, so that neither
    codes nor scales are stored. A `gq.block_dequantize` and its
    `gq.block_quantize` become a `gq.grouped_block_quantize` without groups. The
    bytes stay the same, in rows of no group too; other results of the
    quantization are kept, and so are its producer and gather.

    No pipeline runs it: on a module whose codes are what matters it would leave
    nothing of them. Ask for it before a pipeline,
    `builtin.module(gq-fuse-fake-quantize,gq-to-cpu)`; for `gq-to-nvvm` with
    `kernels`, which leaves alone what has no kernel.

    A pair is left alone, and a missed remark of the category
    `gq-fuse-fake-quantize` says why, if something else uses the codes or the
    scales, if the two differ in format, direction, extents, groups or scales of
    groups, if there is a `noop_flag`, with which the codes may be those of an
    earlier call, if the dequantization has an epilogue, or if the two are in
    different blocks. A passed remark says what was fused.
  }];
  let options = [
    Option<"kernels", "kernels", "bool", /*default=*/"false",
           "Only where a GPU has a kernel: of blocks with one row, rowwise">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def GqFuseProducers : Pass<"gq-fuse-producers"> {
  let summary = "Compute what is quantized inside the op";
  let description = [{
    Repeatedly moves an element-wise `linalg.generic` that computes an input of a
    `gq.grouped_block_quantize` into the op's `producer`, so that its result is
    never stored. Its maps may be the identity, a broadcast of a column or a row,
    or a scalar; `arith` and `math` ops on tensors are fused too, after
    `convert-elementwise-to-linalg`. The quantized values do not change by a bit.

    Gathers of rows become `row_indices`, as with `gq-fuse-row-gather`, and so do
    gathers inside such a `linalg.generic`.

    A producer is left alone, and a missed remark of the category
    `gq-fuse-producers` says why, if it is not an element-wise function of f32,
    bf16 and f16 tensors, if the op would have more than 8 inputs, or if
    something else uses its result, which would then be computed twice.
    Computing it twice is free, and done, if its body only picks one element of
    one input, by row index or not, and widens it (`arith.extf`): no more is
    read than if the result were loaded. A passed remark says what was fused.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def GqExpandProducers : Pass<"gq-expand-producers"> {
  let summary = "Compute what is quantized in an op of its own";
  let description = [{
    The inverse of `gq-fuse-producers`, for targets whose kernels take no
    producer: a `gq.grouped_block_quantize` on tensors with a `producer` becomes
    a `linalg.generic` and an op without one.

    Inputs read by index are extracted in the `linalg.generic`, as zeros where
    the index is out of range. For such a row the op gets the row index -1, so
    that it fails and writes nothing, as it does without a producer.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def GqFuseEpilogues : Pass<"gq-fuse-epilogues"> {
  let summary = "Compute what follows an op where that stores its result";
  let description = [{
    Moves the body of a `linalg.generic` or `linalg.map` that is element-wise over
    the result of a `gq.grouped_mm`, `gq.grouped_dequantize` or
    `gq.block_dequantize`, such as an activation, into the `epilogue` of that op,
    so that its result is never stored. Pairs of columns of a matmul, such as gate
    and up, are read by two `tensor.extract_slice`: all rows of columns 2j and of
    columns 2j+1 (stride 2), or of the first and of the last N/2 columns. The bytes
    of rows of groups stay the same.

    With `dequantize` it does so only for dequantization. `gq-to-nvvm` runs it
    like that, after `gq-fuse-producers`, which moves the same op into a
    quantization behind it: a matmul with silu(gate) * up as its epilogue was as
    fast as the two ops, or up to 7 % slower, at 8 to 2048 rows per group.

    A pair is left alone, and a missed remark of the category
    `gq-fuse-epilogues` says why, if something else uses the result, if rows of
    no group have values (the `outs` of the first op are no `tensor.empty`), if
    the op behind has other inputs or is not of `arith` and `math` alone, if
    groups have numbers of columns of their own, or, with pairs, if N is not
    static. A passed remark says what was fused.
  }];
  let options = [
    Option<"dequantize", "dequantize", "bool", /*default=*/"false",
           "Only into ops that dequantize">,
  ];
}

def GqExpandEpilogues : Pass<"gq-expand-epilogues"> {
  let summary = "Compute an epilogue in an op of its own";
  let description = [{
    The inverse of `gq-fuse-epilogues`, for targets whose kernels take no epilogue:
    an op on tensors with an `epilogue` becomes one without and a `linalg.map`,
    which leaves rows of no group as they are. With `kernels` it does so only
    where GPU kernels do not compute it. These are epilogues of a `gq.grouped_mm`
    with an explicit `tiles128` or `tiles256`: with scales in tiles and column
    scales or a bias; that take f32, in `tiles256`; and that take f32 without
    scales in tiles, in `tiles128`.
  }];
  let options = [
    Option<"kernels", "kernels", "bool", /*default=*/"false",
           "Only epilogues that no GPU kernel computes">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def GqPackSubbyte : Pass<"gq-pack-subbyte", "::mlir::ModuleOp"> {
  let summary = "Store f4 tensors packed, two codes per byte";
  let description = [{
    Turns every `tensor<...xKxf4E2M1FN>` into `tensor<...xK/2xi8>`, function
    signatures included. It handles the gq ops, `func`, `cf`, `scf` (`if`, `for`,
    `forall`, `while`, `index_switch`, `execute_region` and their terminators),
    `arith.select`, `tensor.empty`, `tensor.cast`, `tensor.dim`,
    `tensor.expand_shape` and `tensor.collapse_shape` with static last extents,
    and `tensor.extract_slice`, `tensor.insert_slice` and
    `tensor.parallel_insert_slice` whose last offset and size are static and even,
    such as those of whole rows; any other op that touches f4 is an error, and so
    is an odd K.

    Tensors of scales in tiles, `#gq.tile128x4`, must stay in tiles: after
    bufferization nothing would tell the layouts apart. The ops above may touch
    them if they keep the encoding, and so may `linalg.fill` and
    `arith.constant`. Slices must have whole tiles: all columns, of rows whose
    first and whose number are static multiples of 128, with unit strides. So
    must reshapes, from flat scales or `[G * rows, columns]` to
    `[G, rows, columns]` and back, with static columns and static rows that are a
    multiple of 128. Any other op is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def GqCheckNames : Pass<"gq-check-names", "::mlir::ModuleOp"> {
  let summary = "Refuse names that generated code calls";
  let description = [{
    `math.erf` would call a module's own `@erff`, and allocations its own
    `@malloc`. So a symbol of the module may not have a name that upstream's or
    gq's lowerings call or define: functions of libm and of C's, MLIR's and gq's
    runtime libraries. Declaring and calling one is allowed, except for `llvm.`
    names. Both pipelines begin with this pass.
  }];
}

def GqCheckTypes : Pass<"gq-check-types"> {
  let summary = "Refuse types that LLVM has no code for";
  let description = [{
    LLVM ends the process where a target has no code for an operation. So this
    pass refuses, as results and as arguments of blocks, vectors of scalable
    length everywhere, and in a `gpu.module` integers and floats of more than 64
    bits, which a producer's body may have. Both pipelines run it on the module as
    its author wrote it, that for a GPU once more on its kernels.
  }];
}

def GqProtectArguments : Pass<"gq-protect-arguments", "::mlir::ModuleOp"> {
  let summary = "Let only arguments that are returned be written";
  let description = [{
    Bufferization may write a tensor into the buffer of any argument that nothing
    reads afterwards. This pass decides instead, on the module as its author
    wrote it: an argument of a public function may be written only if a result
    is written into it. `bufferization.writable = false` is set on all others,
    unless the author has set that attribute.

    A result is written into an argument if

    - a chain leads from one to the other, each link of which is the init of a
      destination-passing op (of gq or linalg, `tensor.insert`,
      `tensor.insert_slice`), a `tensor.cast`, or what an `scf.for` carries from
      one iteration to the next through such a chain in its body;
    - nothing else uses a tensor of the chain;
    - all other uses of the argument are reads by ops that do not alias it.

    So whatever is written is a result that `gq-finalize-boundary` lists in
    `sources`. Where the function has several returns or is called in the module,
    and through `scf.if`, `scf.while`, branches, calls and slices of an argument,
    there is no such chain: the op works on a copy, and the result is a new
    buffer.

    Fusion replaces the init of a `linalg.generic` that does not read it. Where
    its result is returned and its init is an argument without another use, a
    `bufferization.materialize_in_destination` preserves what was meant; in other
    cases the result is a new buffer.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect"];
}

def GqFreshInits : Pass<"gq-fresh-inits"> {
  let summary = "Replace inits that a linalg.generic does not read";
  let description = [{
    Replaces such an init by `tensor.empty`. `convert-elementwise-to-linalg`
    takes an operand as the init, which bufferization would then overwrite;
    `linalg-fuse-elementwise-ops` does the same where it runs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def GqStrictFloats : Pass<"gq-strict-floats"> {
  let summary = "Round after each operation";
  let description = [{
    Removes `fastmath` from `arith.extf` and `arith.truncf`. Upstream's
    `arith-emulate-unsupported-floats` and `math-extend-to-supported-types`
    compute bf16 and f16 in f32 and allow (`contract`) the rounding between two
    operations to be omitted; whether it is omitted would depend on how they were
    fused.

    In a `gpu.module`, `math.sqrt` of f32 and f64 becomes LLVM's, which rounds to
    nearest; libdevice's is an approximation.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def GqExpandSmallFloats : Pass<"gq-expand-small-floats"> {
  let summary = "Convert 8-bit floats by integer arithmetic";
  let description = [{
    Replaces `arith.extf` from `f8E4M3FN`, `f8E5M2` and `f8E8M0FNU`, and
    `arith.truncf` from f32, bf16 and f16 to the first two, by integer
    arithmetic on scalars. Truncation rounds to nearest even; what is too large
    becomes inf or, in `f8E4M3FN`, NaN, as in constant folding. It does not
    saturate, unlike the ops that quantize.

    Any other arithmetic on floats of less than 16 bits is an error, such as
    conversions of `f4E2M1FN`, which upstream rounds wrongly.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def GqFinalizeBoundary : Pass<"gq-finalize-boundary", "::mlir::ModuleOp"> {
  let summary = "Return no buffer that the caller passed in";
  let description = [{
    Runs on bufferized functions. A public function that returns one of its own
    arguments stops doing so: the caller already has that buffer, and buffer
    deallocation would copy it. What the function took and returned before is
    recorded on it for the caller:

    ```mlir
    gq.boundary = {inputs = [memref<4xf32>], results = [memref<4xf32>],
                   sources = array<i32: 0>, written = array<i1: true>}
    ```

    `sources` names the argument that a result is, or is -1 for a result that is
    still returned and whose memory the caller then owns. `written` says for each
    argument whether its memory may be written to: true unless every use of it is
    known to only read. A buffer that is returned twice is cloned, even as
    another view or where two results may be the same (what an `scf.for` or a
    branch yields), in private functions too; so is another view of an argument,
    such as a `memref.expand_shape`. Public functions get
    `llvm.emit_c_interface`. Functions that the module itself calls keep their
    results. Functions in a `gpu.module` are left alone.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def GqLowerDeallocations : Pass<"gq-lower-deallocations"> {
  let summary = "Free several buffers without a table of them";
  let description = [{
    Lowers a `bufferization.dealloc` of several buffers, any of which may be
    equal, to comparisons of their addresses. For these, upstream's
    `bufferization-lower-deallocations` calls a function with tables in memory,
    which on a GPU target would be device memory. The upstream pass lowers all
    others.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ConvertGqToRuntime : Pass<"convert-gq-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Call the C runtime on the CPU";
  let description = [{
    Replaces each gq op on memrefs by a call of the function that implements it
    in `gq/Runtime/Cpu.h`. The operands are passed as a table on the stack, one
    row of nine `i64` per operand: address, element type, rank, three sizes and
    three strides. What is known from types is a constant, which ops of equal
    types share; a function copies it once, at its start, and each op stores
    addresses and dynamic extents and strides. Memrefs in any but the default
    memory space are an error, and so is a symbol of the module that has the name
    of such a function but is not its declaration.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
}

def GqChooseKernels : Pass<"gq-choose-kernels", "::mlir::ModuleOp"> {
  let summary = "Say which kernel a GPU runs for an op";
  let description = [{
    Gives each `gq.grouped_mm` that has no `kernel`, or `auto`, the one that is
    fastest for M / G rows per group, where M and G are static. The bounds assume
    that tokens are routed at random, so that some groups have more than the mean
    and need a second tile; if all are equal, set `kernel`, such as `decode8` for 8
    rows:

    | M / G | `kernel` |
    |---|---|
    | up to 7 | `decode8` |
    | up to 16 | `decode16` |
    | up to 24 | `tiles32` |
    | up to 56 | `tiles64` |
    | more | `tiles128` |

    Where K is not a multiple of 32, with `b_major(n)`, and on chips other than
    sm_90a, it is `any`. Where M or G is only known at the launch, the op is left alone:
    `convert-gq-to-gpu` then makes all of these kernels but `tiles32`, and each
    launch runs one of them, by the same bounds (`tiles64` above 16). An op with an
    `epilogue` gets `tiles64` instead of `tiles128`, which has no registers for all
    of it, in two cases: with scales in tiles and column scales or a bias, and with
    an epilogue that takes f32 and no scales in tiles. A remark
    of the category `gq-choose-kernels` says what was chosen and why
    (`--remarks-filter=gq-choose-kernels --remark-format=emitRemark`); it is a
    missed one where that is `any`.

    A `gq.grouped_wgrad` gets `tiles128` on sm_90a, and `any` on other chips.

    An explicit `kernel` is kept; one that the chip or the op does not have is an
    error, and so is any but `any` with `b_major(n)`.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "The chip: sm_90a, sm_100a or sm_120a">,
  ];
}

def ConvertGqToGpu : Pass<"convert-gq-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Launch a kernel for each op";
  let description = [{
    Replaces each gq op on memrefs of device memory by asynchronous launches, on
    the stream of `gqSetStream`, of one or several kernels: a `gpu.module` each that
    calls a device function of `runtime_kernels/kernels/` with the op's
    attributes and static extents as constants and, where the op has a
    `producer`, with a function made from it. `gq-attach-target` provides the
    device functions. `chip` decides how many CTAs of some kernels each
    multiprocessor should hold; the kernels run on other chips too.

    With `fuse-quantization` the kernels of a `gq.grouped_mm`, with an epilogue
    or without, also quantize what they compute, if a `gq.grouped_block_quantize` is behind
    it: they store the codes and scales that it would, and the product is never
    written.
    The quantization is one of rows alone, to NVFP4 or an MX format with scales
    in tile128x4, with a given outer scale or none, in the same block and by the
    same values of `offsets` and `scale_offsets`. Nothing between the two writes
    or frees memory, and nothing else uses the product, a `memref.alloc`. It is
    not done for matmuls of FP8, in `tiles256`, and in `tiles128` with
    column scales or a bias. Other pairs stay two launches, and a missed remark
    of the category `convert-gq-to-gpu` says why; a passed one says what was
    fused. What the quantization writes must not be an operand of the matmul:
    the launch fails if it is.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "The chip: sm_90a, sm_100a or sm_120a">,
    Option<"fuseQuantization", "fuse-quantization", "bool", /*default=*/"false",
           "Have the kernels of matmuls quantize their outputs">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def GqPrepareKernels : Pass<"gq-prepare-kernels"> {
  let summary = "Make each linalg op one nest of parallel loops";
  let description = [{
    Prepares ops that become kernels for `convert-linalg-to-parallel-loops`. The
    parallel loops of a `linalg.generic` on memrefs are put before its
    reductions, so that these run in a kernel and not around one; the order
    within each is kept, so no sum changes. An op without a parallel loop is put
    into one of one iteration, and so is a `memref.store`. A `memref.copy` of
    strided memrefs becomes a `linalg.generic`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect"];
}

def GqCollapseLoops : Pass<"gq-collapse-loops"> {
  let summary = "Collapse an scf.parallel of several loops into one loop";
  let description = [{
    Iterations of the last loop stay next to each other, as elements in memory
    are. Tiled and mapped, the single loop fills blocks of threads whatever the
    extents were, and is limited only by the largest grid, 2^31 - 1 blocks.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def GqShareKernels : Pass<"gq-share-kernels", "::mlir::ModuleOp"> {
  let summary = "Merge equal kernels";
  let description = [{
    Of `gpu.module`s that hold one kernel each and are equal except for names and
    locations, the first is kept and launched for all. So a graph of many equal
    layers has the kernels of one layer, which are compiled once. Kernels differ
    if an attribute of the op, a static extent, or an operation or constant of
    its producer differs.
  }];
}

def GqDeviceMemory : Pass<"gq-device-memory", "::mlir::ModuleOp"> {
  let summary = "Adapt the host's code to memrefs of device memory";
  let description = [{
    On a GPU target every memref of the host's code is device memory. Contiguous
    copies and launches become asynchronous, on the stream of `gqSetStream`. A
    constant is read from a copy on the device, which `gqDeviceConstant` makes at
    its first use and a destructor of the module frees. An op that would read or
    write elements on the host, such as `memref.load`, is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

def GqAttachTarget : Pass<"gq-attach-target", "::mlir::ModuleOp"> {
  let summary = "Say which chip the kernels are for";
  let description = [{
    Attaches an `#nvvm.target` for `chip` to each `gpu.module`, linked with gq's
    device functions for that chip, which are found beside `libgq.so`. A kernel
    that calls libdevice is an error where there is no CUDA toolkit, and so is
    an operation that `convert-gpu-to-nvvm` did not convert.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "The chip: sm_90a, sm_100a or sm_120a">,
    Option<"opt", "opt", "int32_t", /*default=*/"3",
           "The optimization level, 0 to 3">,
  ];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

def GqModulesToBinaries : Pass<"gq-modules-to-binaries", "::mlir::ModuleOp"> {
  let summary = "Compile kernels at the same time";
  let description = [{
    Upstream's `gpu-module-to-binary` on the threads of the context, which takes
    each `gpu.module` for itself.
  }];
  let options = [
    Option<"format", "format", "std::string", /*default=*/"\"fatbin\"",
           "What a kernel becomes: fatbin, bin or isa (PTX)">,
    Option<"toolkit", "toolkit", "std::string", /*default=*/"\"\"",
           "The folder of the CUDA toolkit">,
  ];
}

#endif // GQ_LOWERING_PASSES_TD
