//===- Tiles.h - problems for the kernel of tiles ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands and expected bytes of gq.grouped_block_quantize, computed from the
// formulas a value at a time. Two programs run them: one on a GPU, one on
// threads that are emulated on the CPU.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_TILES_H
#define GQ_TEST_GPU_TILES_H

#include "Operands.h"

#include "gq/Runtime/Types.h"

#include <stdbool.h>
#include <stdint.h>

/// Parts of a variant besides those of Launch.h: 32-bit row indices; the kernel
/// is gq_dev_quantize_small_groups.
enum {
  TILES_ROW_INDICES = 1 << 16,
  TILES_SMALL_GROUPS = 1 << 17,
  TILES_OWN_PARTS = TILES_ROW_INDICES | TILES_SMALL_GROUPS,
};

/// What is constant in a kernel.
typedef struct TilesVariant {
  const char *name;
  gqElementType type;
  int parts;
  gqFormat format;
  gqRecipe recipe;
  gqScaleLayout layout;
  gqRows rows;
  int offsetBits, outerKind, columnwiseOuterKind;
  gqElementType dbiasType;
  /// As gqDirectionPack makes them.
  int32_t rowwise, columnwise;
  bool aligned;
} TilesVariant;

extern const TilesVariant tilesVariants[];
extern const int numTilesVariants;

enum {
  /// The first ones are those that a benchmark measures.
  NUM_MEASURED_VARIANTS = GQ_NUM_FORMATS + 9,
};

/// What a problem is made of. Rows before the first and after the last group
/// and elements after a ragged group are for the caller to ask for.
typedef struct TilesShape {
  int groups;
  /// [groups]; `columns` has one entry unless ragged.
  const int64_t *rows, *columns;
  int64_t rowsBefore, rowsAfter;
  /// Elements after each ragged group, in units of 16.
  int64_t gap;
  /// Whether offsets have an entry for the end, if they may lack it.
  bool closed;
  /// Whether there are none at all, for the one group is all rows.
  bool whole;
  /// Elements between the rows of a matrix, and bytes or scales that outputs
  /// are off their alignment; if so, the input is by an element.
  int64_t rowGap, shift;
} TilesShape;

/// The arrays of a problem, of both input and output.
enum {
  TILES_INPUT,
  TILES_ROWS_OF_INPUT,
  TILES_OFFSETS,
  TILES_SCALE_OFFSETS,
  TILES_FIRST_DIMS,
  TILES_LAST_DIMS,
  TILES_OUTER,
  TILES_COLUMNWISE_OUTER,
  TILES_RNG_STATE,
  TILES_NUM_INPUTS,
  TILES_DATA = TILES_NUM_INPUTS,
  TILES_SCALES,
  TILES_COLUMNWISE_DATA,
  TILES_COLUMNWISE_SCALES,
  TILES_AMAX,
  TILES_DBIAS,
  TILES_SCALE_OFFSETS_OUT,
  TILES_SCALE_INV,
  TILES_WORKSPACE,
  TILES_STATUS,
  TILES_NUM_ARRAYS
};

extern const char *const tilesArrayNames[TILES_NUM_ARRAYS];

typedef struct TilesArray {
  /// Of an input its bytes. Of an output the expected ones, poison where
  /// nothing is to be written.
  uint8_t *bytes;
  int64_t size;
  /// Of an output, what it holds before the launch.
  uint8_t before;
  /// Of an output of hostile offsets, null otherwise: which bytes are expected
  /// by nobody (0), by somebody, or by two who do not agree (2).
  uint8_t *claims;
} TilesArray;

/// The operands of both kernels.
typedef struct TilesOperands {
  QuantizeTilesOperands tiles;
  ReduceTilesOperands reduce;
} TilesOperands;

/// `operands`, all but the addresses, with the addresses of the arrays.
TilesOperands tilesPlace(QuantizeTilesOperands operands,
                         const uint64_t addresses[TILES_NUM_ARRAYS]);

typedef struct TilesProblem {
  TilesVariant variant;
  TilesShape shape;
  TilesArray arrays[TILES_NUM_ARRAYS];
  /// Groups claim so many rows that some are left out: only the status and that
  /// nothing else is touched count.
  bool leavesOut;
  /// dbias in float64, [groups * columns].
  double *exactDbias;
  /// All but what tilesPlace fills in.
  QuantizeTilesOperands operands;
} TilesProblem;

enum {
  TILES_POISON = 0xa5,
};

/// Inputs of random bits and what they must become.
TilesProblem tilesProblemNew(const TilesVariant *variant,
                             const TilesShape *shape);
void tilesProblemFree(TilesProblem *problem);

/// Computes the expected outputs from the inputs.
void tilesExpect(TilesProblem *problem);

/// Bytes that an array is off its alignment.
int64_t tilesShift(const TilesProblem *problem, int array);

/// Compares output `array` with what was computed, printing what differs.
bool tilesArrayMatches(const TilesProblem *problem, int array,
                       const uint8_t *computed);

/// Runs a problem: fills computed[i] for outputs i, each of the array's size.
/// Whether nothing outside of them was touched.
typedef bool TilesRun(const TilesProblem *problem, unsigned grid,
                      uint8_t *computed[TILES_NUM_ARRAYS]);

/// All tests of the variants, or of those with `only` in their names if that is
/// not null. Returns how many failed.
int tilesTest(TilesRun *run, const char *golden, bool quick, const char *only,
              int *passed);

/// All directions of nvfp4 that go together, in small problems. `run` gets
/// variants that are in no list. Returns how many failed.
int tilesTestDirections(TilesRun *run, int *passed);

#endif // GQ_TEST_GPU_TILES_H
