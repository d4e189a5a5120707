//===- offsets.c - where groups begin, tested -----------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Against sums of 128 bits, of counts that are right and of any.
//
//===----------------------------------------------------------------------===//

#include "Host.h"
#include "Kernels.h"

#include "runtime_kernels/kernels/Launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xA5 };

/// An array of integers on the device, with poison around it.
typedef struct Integers {
  bool wide;
  int64_t size, bytes;
  uint8_t *host;
  DevicePtr device;
} Integers;

enum { AROUND = 64 };

static Integers integersNew(bool wide, int64_t size) {
  Integers x = {.wide = wide, .size = size};
  x.bytes = size * (wide ? 8 : 4);
  x.host = allocateHost(x.bytes + 2 * AROUND);
  memset(x.host, POISON, (size_t)(x.bytes + 2 * AROUND));
  CU(MemAlloc(&x.device, (size_t)(x.bytes + 2 * AROUND)));
  return x;
}

static void integerSet(Integers *x, int64_t i, int64_t value) {
  int32_t narrow = (int32_t)value;
  memcpy(x->host + AROUND + i * (x->wide ? 8 : 4),
         x->wide ? (void *)&value : (void *)&narrow, x->wide ? 8 : 4);
}

static DevicePtr integersPut(const Integers *x) {
  CU(MemcpyHtoD(x->device, x->host, (size_t)(x->bytes + 2 * AROUND)));
  return x->device + AROUND;
}

/// Whether the device has what the host has, with all that is around it.
static bool integersMatch(const Integers *x, const char *name,
                          const char *what) {
  uint8_t *found = allocateHost(x->bytes + 2 * AROUND);
  CU(MemcpyDtoH(found, x->device, (size_t)(x->bytes + 2 * AROUND)));
  bool match = bytesMatch(name, what, found, x->host, x->bytes + 2 * AROUND,
                          -AROUND, NULL, 0);
  free(found);
  return match;
}

static void integersFree(Integers *x) {
  CU(MemFree(x->device));
  free(x->host);
}

/// What counts are like.
typedef enum Kind { RIGHT, HOSTILE, HUGE, NUM_KINDS } Kind;

static int64_t randomCount(Kind kind, bool wide) {
  uint32_t bits = randomBits();
  if (kind == RIGHT || bits % 4 != 0)
    return bits / 4 % 3 ? (int64_t)(bits >> 12 & 0x3FF) : 0;
  int64_t any = (int64_t)((uint64_t)randomBits() << 32 | randomBits());
  if (kind == HUGE && any < 0)
    any = ~any;
  return wide ? any : (int32_t)(any >> 32);
}

typedef __int128 Wide;

static Wide least(Wide a, Wide b) { return a < b ? a : b; }

/// Runs a kernel on counts of a kind, on a grid of `ctas`.
static bool runOne(Handle module, int device, const char *name, bool wideCounts,
                   bool wide, Kind kind, int64_t groups, bool closed,
                   bool scales, unsigned ctas) {
  Integers counts = integersNew(wideCounts, groups);
  Integers offsets = integersNew(wide, groups + closed);
  Integers scaleOffsets = integersNew(wide, groups);
  GroupOffsetsOperands o = {.groups = groups, .numOffsets = groups + closed};
  o.offsets = integersPut(&offsets);
  o.scaleOffsets = integersPut(&scaleOffsets);

  const Wide last = wide ? INT64_MAX : INT32_MAX;
  const Wide lastScale = last / 128 * 128;
  Wide row = 0, scaleRow = 0;
  uint32_t status = 0, found = 0;
  for (int64_t e = 0; e < groups; ++e) {
    int64_t count = randomCount(kind, wideCounts);
    integerSet(&counts, e, count);
    integerSet(&offsets, e, (int64_t)least(row, last));
    if (scales)
      integerSet(&scaleOffsets, e, (int64_t)least(scaleRow, lastScale));
    row += count < 0 ? 0 : count;
    scaleRow += count < 0 ? 0 : ((Wide)count + 127) / 128 * 128;
    if (count < 0 || row > last)
      status |= GQ_DEV_STATUS_OFFSETS;
    if (scales && scaleRow > lastScale)
      status |= GQ_DEV_STATUS_SCALE_OFFSETS;
  }
  if (closed)
    integerSet(&offsets, groups, (int64_t)least(row, last));
  o.counts = integersPut(&counts);
  if (!scales)
    o.scaleOffsets = 0;
  CU(MemAlloc(&o.status, sizeof(found)));
  CU(MemcpyHtoD(o.status, &found, sizeof(found)));

  Kernel kernel = kernelGet(module, name, device);
  launchKernel(kernel, ctas, GQ_DEV_GROUP_OFFSETS_THREADS, &o, NULL);
  CU(CtxSynchronize());
  CU(MemcpyDtoH(&found, o.status, sizeof(found)));
  bool ok = integersMatch(&counts, name, "counts") &&
            integersMatch(&offsets, name, "offsets") &&
            integersMatch(&scaleOffsets, name, "scale offsets") &&
            found == status;
  if (found != status)
    printf("%s: status %u, expected %u\n", name, found, status);
  CU(MemFree(o.status));
  integersFree(&counts);
  integersFree(&offsets);
  integersFree(&scaleOffsets);
  return ok;
}

void testOffsets(Handle module, int device,
                 void (*report)(bool ok, const char *name, const char *what)) {
  static const struct {
    const char *name;
    bool wideCounts, wide;
  } kernels[] = {{"offsets_i32", false, false},
                 {"offsets_i64", true, true},
                 {"offsets_i32_of_i64", true, false},
                 {"offsets_i64_of_i32", false, true}};
  static const int64_t groups[] = {0, 1, 31, 32, 33, 64, 128, 1000, 4096};
  for (size_t k = 0; k < sizeof(kernels) / sizeof(*kernels); ++k)
    for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); ++g)
      for (int kind = 0; kind < NUM_KINDS; ++kind)
        for (int i = 0; i < 4; ++i)
          report(runOne(module, device, kernels[k].name, kernels[k].wideCounts,
                        kernels[k].wide, (Kind)kind, groups[g], i & 1, i & 2,
                        i == 3 ? 3 : 1),
                 kernels[k].name, "offsets");
}
