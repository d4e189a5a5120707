# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The suite runs three times (test/lit/CMakeLists.txt): with gq-opt as it is,
# with every input round-tripped through text and bytecode, and with the stock
# mlir-opt and the plugin in the place of gq-opt. The last two leave out what
# would be the same: tests without gq-opt, and what ptxas makes of its output.

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
import suite  # noqa: E402

mode = lit_config.params.get("gq_opt", "gq-opt")
config.name = "gq"
config.test_format = suite.Suite(mode)
config.suffixes = [".mlir", ".c", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

config.test_exec_root = os.path.join(config.gq_binary_dir, "test", "lit", mode)

plugin = os.path.join(config.gq_binary_dir, "lib", "libgq.so")
# Instrumented libraries in programs that are not.
preload = (f"LD_PRELOAD={config.sanitize_preload}"
           if config.sanitize_preload else "")
gq_opt = {
    "gq-opt": os.path.join(config.gq_binary_dir, "bin", "gq-opt"),
    "roundtrip": os.path.join(config.gq_binary_dir, "bin", "gq-opt")
    + " --verify-roundtrip",
    "plugin": f"env {preload} "
    + os.path.join(config.llvm_tools_dir, "mlir-opt")
    + f" --load-dialect-plugin={plugin} --load-pass-plugin={plugin}",
}[mode]

config.substitutions += [
    (r"(?<![/\w-])gq-opt\b", gq_opt),
    ("%python", config.python),
    ("%chips", config.chips),
    ("%preload", preload),
    ("%gq_source_dir", config.gq_source_dir),
    ("%gq_binary_dir", config.gq_binary_dir),
]
if config.cuda_toolkit:
    config.available_features.add("ptxas")
    config.substitutions += [
        ("%cuda_toolkit", config.cuda_toolkit),
        ("%ptxas", os.path.join(config.cuda_toolkit, "bin", "ptxas")),
    ]
config.environment["PATH"] = os.pathsep.join([
    os.path.join(config.gq_binary_dir, "bin"),
    config.llvm_tools_dir,
    config.environment["PATH"],
])
for name in "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS":
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Compiled modules of tests stay out of the user's cache.
config.environment["GQ_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
