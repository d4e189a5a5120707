// The example of a whole feed-forward network, against the oracle.

// RUN: rm -rf %t && mkdir %t && %python %S/Inputs/ffn.py make %t
// RUN: gq-run %gq_source_dir/examples/moe_ffn.mlir --in %t/0.npy --in %t/1.npy \
// RUN:   --in %t/2.npy --in %t/3.npy --in %t/4.npy --in %t/5.npy \
// RUN:   --in %t/6.npy --in %t/7.npy --in %t/8.npy --out %t/out
// RUN: %python %S/Inputs/ffn.py check %t
