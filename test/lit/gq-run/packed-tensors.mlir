// f4 and scales in tiles, through every op that gq-pack-subbyte knows: the bytes
// are those of one op on all rows.
//
// RUN: rm -rf %t
// RUN: %python %S/Inputs/save.py %t/in/x.npy float32 256,64
// RUN: %python %S/Inputs/save.py %t/in/i.npy int64 ""
// RUN: gq-run %gq_source_dir/test/gpu/control_flow.mlir --in %t/in/x.npy --in %t/in/i.npy --out %t/out
// RUN: cmp %t/out/0.npy %t/out/2.npy
// RUN: cmp %t/out/1.npy %t/out/3.npy
// RUN: cmp %t/out/0.npy %t/out/4.npy
// RUN: cmp %t/out/1.npy %t/out/5.npy
// RUN: cmp %t/out/0.npy %t/out/6.npy
// RUN: cmp %t/out/1.npy %t/out/7.npy
// RUN: cmp %t/out/0.npy %t/out/8.npy
// RUN: cmp %t/out/1.npy %t/out/9.npy
