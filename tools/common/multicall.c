//===- multicall.c - all tools in one program -----------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The name that the program is called by says which tool it is; under any other
// name, its first argument does. It is what tools/bundle.sh packs, with the
// test of compiled graphs, which needs the compiler too.
//
//===----------------------------------------------------------------------===//

#include "Tools.h"

#include "test/gpu/compiled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tool {
  const char *name;
  int (*main)(int argc, char **argv);
} Tool;

static const Tool tools[] = {{"gq-run", gqRunMain},
                             {"gq-bench", gqBenchMain},
                             {"gq-test-compiled", gqTestCompiledMain}};

static const Tool *findTool(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); ++i)
    if (strcmp(tools[i].name, name) == 0)
      return &tools[i];
  return NULL;
}

int main(int argc, char **argv) {
  const Tool *tool = argc > 0 ? findTool(argv[0]) : NULL;
  if (!tool && argc > 1 && (tool = findTool(argv[1]))) {
    --argc;
    ++argv;
  }
  if (tool)
    return tool->main(argc, argv);
  fprintf(stderr, "usage: gq-tools TOOL [options], TOOL being one of");
  for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); ++i)
    fprintf(stderr, " %s", tools[i].name);
  fprintf(stderr, "\n");
  return EXIT_FAILURE;
}
