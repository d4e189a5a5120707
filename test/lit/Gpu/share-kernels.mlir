// Equal kernels are merged, of gq ops and of others; different ones are not.
//
// RUN: gq-opt %s -split-input-file --pass-pipeline='builtin.module(gq-share-kernels)' | FileCheck %s
// RUN: gq-opt %S/../Lowering/Inputs/layers.mlir --pass-pipeline='builtin.module(gq-to-nvvm{format=isa})' -o %t
// RUN: FileCheck %s --check-prefix=LAYERS < %t

// Three kernels for eight layers: quantization with each of two constants, and
// the fill.
// LAYERS-COUNT-3: gpu.binary
// LAYERS-NOT: gpu.binary

module attributes {gpu.container_module} {
  // Names and locations differ.
  // CHECK: gpu.module @first {
  gpu.module @first {
    gpu.func @a(%x: f32) kernel {
      %c = arith.constant 1.0 : f32
      %s = arith.addf %x, %c : f32
      gpu.return
    }
  }
  // CHECK-NOT: gpu.module @same
  gpu.module @same {
    gpu.func @b(%x: f32) kernel {
      %c = arith.constant 1.0 : f32
      %s = arith.addf %x, %c : f32
      gpu.return
    } loc("elsewhere")
  }
  // CHECK: gpu.module @constant {
  gpu.module @constant {
    gpu.func @a(%x: f32) kernel {
      %c = arith.constant 1.00000012 : f32
      %s = arith.addf %x, %c : f32
      gpu.return
    }
  }
  // CHECK: gpu.module @operation {
  gpu.module @operation {
    gpu.func @a(%x: f32) kernel {
      %c = arith.constant 1.0 : f32
      %s = arith.mulf %x, %c : f32
      gpu.return
    }
  }
  // CHECK: gpu.module @operands {
  gpu.module @operands {
    gpu.func @a(%x: f32) kernel {
      %c = arith.constant 1.0 : f32
      %s = arith.addf %c, %x : f32
      gpu.return
    }
  }
  // CHECK: gpu.module @type {
  gpu.module @type {
    gpu.func @a(%x: bf16) kernel {
      %c = arith.constant 1.0 : bf16
      %s = arith.addf %x, %c : bf16
      gpu.return
    }
  }
  // CHECK: gpu.module @attribute {
  gpu.module @attribute {
    gpu.func @a(%x: f32) kernel attributes {nvvm.maxntid = array<i32: 128>} {
      %c = arith.constant 1.0 : f32
      %s = arith.addf %x, %c : f32
      gpu.return
    }
  }
  // Kernels that share a module, whatever they are, keep it.
  // CHECK: gpu.module @two {
  gpu.module @two {
    gpu.func @a(%x: f32) kernel {
      gpu.return
    }
    gpu.func @b(%x: f32) kernel {
      gpu.return
    }
  }
  // CHECK: gpu.module @two_again {
  gpu.module @two_again {
    gpu.func @a(%x: f32) kernel {
      gpu.return
    }
    gpu.func @b(%x: f32) kernel {
      gpu.return
    }
  }

  // CHECK-LABEL: func.func @launches
  func.func @launches(%n: index, %x: f32, %y: bf16) {
    // CHECK: gpu.launch_func @first::@a
    gpu.launch_func @first::@a blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : f32)
    // CHECK: gpu.launch_func @first::@a
    gpu.launch_func @same::@b blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : f32)
    // CHECK: gpu.launch_func @constant::@a
    gpu.launch_func @constant::@a blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : f32)
    // CHECK: gpu.launch_func @operation::@a
    gpu.launch_func @operation::@a blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : f32)
    // CHECK: gpu.launch_func @operands::@a
    gpu.launch_func @operands::@a blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : f32)
    // CHECK: gpu.launch_func @type::@a
    gpu.launch_func @type::@a blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%y : bf16)
    // CHECK: gpu.launch_func @attribute::@a
    gpu.launch_func @attribute::@a blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : f32)
    // CHECK: gpu.launch_func @two_again::@b
    gpu.launch_func @two_again::@b blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : f32)
    return
  }
}
