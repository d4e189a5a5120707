// One quantization in several ways through slices, reshapes and structured control
// flow. In each pair of results are the same bytes as in the first one.

!rows = tensor<256x64xf32>
!codes = tensor<256x64xf4E2M1FN>
!codes_of_expert = tensor<128x64xf4E2M1FN>
!scales = tensor<256x4xf8E4M3FN, #gq.tile128x4>
!scales_of_expert = tensor<128x4xf8E4M3FN, #gq.tile128x4>
!scales_of_experts = tensor<2x128x4xf8E4M3FN, #gq.tile128x4>

// All experts at once.
func.func private @all(%x: !rows) -> (!codes, !scales) {
  %offsets = arith.constant dense<[0, 128, 256]> : tensor<3xi32>
  %q0 = tensor.empty() : !codes
  %s0 = tensor.empty() : !scales
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%x : !rows)
      groups(%offsets : tensor<3xi32>) outs(%q0, %s0 : !codes, !scales)
      -> !codes, !scales
  return %q, %s : !codes, !scales
}

// One expert, into its part of an output.
func.func private @one(%x: !rows, %row: index, %q0: !codes_of_expert,
    %s0: !scales_of_expert) -> (!codes_of_expert, !scales_of_expert) {
  %offsets = arith.constant dense<[0, 128]> : tensor<2xi32>
  %slice = tensor.extract_slice %x[%row, 0] [128, 64] [1, 1]
      : !rows to tensor<128x64xf32>
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%slice : tensor<128x64xf32>)
      groups(%offsets : tensor<2xi32>)
      outs(%q0, %s0 : !codes_of_expert, !scales_of_expert)
      -> !codes_of_expert, !scales_of_expert
  return %q, %s : !codes_of_expert, !scales_of_expert
}

// Blocks and branches.
func.func private @region(%x: !rows, %i: index, %q0: !codes, %s0: !scales)
    -> (!codes, !scales) {
  %c1 = arith.constant 1 : index
  %q_region, %s_region = scf.execute_region -> (!codes, !scales) {
    %same = arith.cmpi eq, %i, %c1 : index
    cf.cond_br %same, ^yes, ^no
  ^yes:
    %0, %1 = func.call @all(%x) : (!rows) -> (!codes, !scales)
    scf.yield %0, %1 : !codes, !scales
  ^no:
    scf.yield %q0, %s0 : !codes, !scales
  }
  return %q_region, %s_region : !codes, !scales
}

func.func @main(%x: !rows, %i: index)
    -> (!codes, !scales, !codes, !scales, !codes, !scales, !codes, !scales,
        !codes, !scales) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %q, %s = call @all(%x) : (!rows) -> (!codes, !scales)
  %s_empty = tensor.empty() : !scales_of_experts

  // A parallel loop over experts, into slices; leading extents are collapsed.
  %q_empty = tensor.empty() : tensor<2x128x64xf4E2M1FN>
  %q_forall, %s_forall = scf.forall (%e) in (2)
      shared_outs(%qa = %q_empty, %sa = %s_empty)
      -> (tensor<2x128x64xf4E2M1FN>, !scales_of_experts) {
    %row = arith.muli %e, %c128 : index
    %q0 = tensor.extract_slice %qa[%e, 0, 0] [1, 128, 64] [1, 1, 1]
        : tensor<2x128x64xf4E2M1FN> to !codes_of_expert
    %s0 = tensor.extract_slice %sa[%e, 0, 0] [1, 128, 4] [1, 1, 1]
        : !scales_of_experts to !scales_of_expert
    %q1, %s1 = func.call @one(%x, %row, %q0, %s0)
        : (!rows, index, !codes_of_expert, !scales_of_expert)
        -> (!codes_of_expert, !scales_of_expert)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q1 into %qa[%e, 0, 0] [1, 128, 64] [1, 1, 1]
          : !codes_of_expert into tensor<2x128x64xf4E2M1FN>
      tensor.parallel_insert_slice %s1 into %sa[%e, 0, 0] [1, 128, 4] [1, 1, 1]
          : !scales_of_expert into !scales_of_experts
    }
  }
  %q_collapsed = tensor.collapse_shape %q_forall [[0, 1], [2]]
      : tensor<2x128x64xf4E2M1FN> into !codes
  %s_collapsed = tensor.collapse_shape %s_forall [[0, 1], [2]]
      : !scales_of_experts into !scales

  // A loop, into whole rows.
  %rows_empty = tensor.empty() : !codes
  %q_for, %s_for = scf.for %e = %c0 to %c2 step %c1
      iter_args(%qa = %rows_empty, %sa = %s_empty) -> (!codes, !scales_of_experts) {
    %row = arith.muli %e, %c128 : index
    %q0 = tensor.extract_slice %qa[%row, 0] [128, 64] [1, 1]
        : !codes to !codes_of_expert
    %s0 = tensor.extract_slice %sa[%e, 0, 0] [1, 128, 4] [1, 1, 1]
        : !scales_of_experts to !scales_of_expert
    %q1, %s1 = func.call @one(%x, %row, %q0, %s0)
        : (!rows, index, !codes_of_expert, !scales_of_expert)
        -> (!codes_of_expert, !scales_of_expert)
    %qb = tensor.insert_slice %q1 into %qa[%row, 0] [128, 64] [1, 1]
        : !codes_of_expert into !codes
    %sb = tensor.insert_slice %s1 into %sa[%e, 0, 0] [1, 128, 4] [1, 1, 1]
        : !scales_of_expert into !scales_of_experts
    scf.yield %qb, %sb : !codes, !scales_of_experts
  }
  %s_rows = tensor.collapse_shape %s_for [[0, 1], [2]]
      : !scales_of_experts into !scales

  // One of several ways, with the experts' halves exchanged twice: each half is a
  // slice, and goes where it was.
  %q_switch, %s_switch = scf.index_switch %i -> !codes, !scales
  case 0 {
    scf.yield %rows_empty, %s_rows : !codes, !scales
  }
  case 1 {
    %experts = tensor.expand_shape %q [[0, 1], [2]] output_shape [2, 128, 64]
        : !codes into tensor<2x128x64xf4E2M1FN>
    %first = tensor.extract_slice %experts[0, 0, 0] [1, 128, 64] [1, 1, 1]
        : tensor<2x128x64xf4E2M1FN> to !codes_of_expert
    %second = tensor.extract_slice %q[128, 0] [128, 64] [1, 1]
        : !codes to !codes_of_expert
    %0 = tensor.insert_slice %second into %q[0, 0] [128, 64] [1, 1]
        : !codes_of_expert into !codes
    %1 = tensor.extract_slice %0[0, 0] [128, 64] [1, 1] : !codes to !codes_of_expert
    %2 = tensor.insert_slice %1 into %0[128, 0] [128, 64] [1, 1]
        : !codes_of_expert into !codes
    %3 = tensor.insert_slice %first into %2[0, 0] [128, 64] [1, 1]
        : !codes_of_expert into !codes
    %tiles = tensor.extract_slice %s[128, 0] [128, 4] [1, 1]
        : !scales to !scales_of_expert
    %4 = tensor.insert_slice %tiles into %s_collapsed[128, 0] [128, 4] [1, 1]
        : !scales_of_expert into !scales
    scf.yield %3, %4 : !codes, !scales
  }
  default {
    scf.yield %rows_empty, %s_collapsed : !codes, !scales
  }

  %q_region, %s_region = call @region(%x, %i, %q_for, %s_rows)
      : (!rows, index, !codes, !scales) -> (!codes, !scales)
  return %q, %s, %q_collapsed, %s_collapsed, %q_for, %s_rows, %q_switch,
         %s_switch, %q_region, %s_region
      : !codes, !scales, !codes, !scales, !codes, !scales, !codes, !scales,
        !codes, !scales
}
