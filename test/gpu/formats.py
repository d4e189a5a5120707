# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every format, direction and shape of the ops that quantize groups, compiled.

For run.py and for pytest, so it needs nothing but NumPy and what is beside it or
in test/python. A Batch is one module, which quantizes many cases with one kernel.
"""

import dataclasses
import functools
import json

import cases
import elements
import numpy as np
import oracle
import values

# Rows of K columns; the rows of the groups. The rest are in no group.
ROWS = {
    "same_1": (128, 128, [128]),
    "same_2": (256, 128, [128, 128]),
    "first_512x128": (512, 128, [128, 384]),
    "first_1024x144": (1024, 144, [128, 384, 512]),
    "first_1024x144_empty": (1024, 144, [128, 384, 0, 512]),
    "first_1536x160": (1536, 160, [128, 384, 512, 512]),
    "first_4096x512": (4096, 512, [128, 256, 384, 1024, 2304]),
    "first_65536x512": (65536, 512, [128, 256, 384, 1024, 2304]),
    "first_512x160": (512, 160, [128, 0, 0, 256]),
    # No multiples of 16, 32 or 128.
    "odd_1": (1, 128, [1]),
    "odd_600x144": (600, 144, [0, 127, 1, 33, 257, 0, 17]),
    "odd_512x160": (512, 160, [15, 97, 31, 200, 129]),
    "odd_513x272": (513, 272, [513]),
}
# The shapes of ragged groups.
RAGGED = {
    "last_256x896": [(256, 128), (256, 256), (256, 512)],
    "both_2": [(128, 128), (256, 256)],
    "both_640": [(256, 128), (512, 640)],
    "both_empty": [(128, 128), (0, 0), (128, 128)],
    "odd": [(1, 128), (33, 16), (0, 144), (127, 272), (5, 0), (300, 48)],
}
ELEMENTS = ["f32", "bf16", "f16"]
DIRECTIONS = ["rowwise", "columnwise", "both"]
# Directions with the data of both, numbers of a type or codes.
NUMBERS = [
    ("rowwise", "f32", "codes"), ("rowwise", "bf16", "codes"), ("rowwise", "f16", "codes"),
    ("columnwise", "codes", "bf16"), ("both", "f16", "f32"), ("both", "bf16", "codes"),
    ("both", "codes", "bf16"),
]  # fmt: skip


def recipes(fmt):
    """Of a format of a whole tensor: whether its scale or an amax is given."""
    two = fmt == "nvfp4" or fmt in oracle.TENSOR_FORMATS
    return ["nvfuser", "te"] if two else ["nvfuser"]


def layouts(fmt):
    tiled = oracle.ALL_FORMATS[fmt].scale not in ("f32", None)
    return ["tile128x4", "linear"] if tiled else ["linear"]


def columns(k, fmt):
    return oracle.up(k, oracle.ALL_FORMATS[fmt].block[1])


def matrix(rng, m, k, element):
    """Hard numbers along the rows, or along the columns."""
    if k % 16 == 0 and (m % 16 or rng.random() < 0.5):
        return values.matrix(rng, m, k, element)
    transposed = values.matrix(rng, k, oracle.up(m, 16), element)
    return np.ascontiguousarray(transposed[:, :m].T)


def amaxes(groups):
    """Outer amaxes as they are used: those of the groups."""
    return np.array([cases.largest(g) for g in groups], np.float32)


# Scales that may be given.
GIVEN = [1, 3.5, 0.125, 2.0**-140, 0, np.inf, -2, np.nan, 17, 3e38]


def outers(fmt, recipe, groups):
    """One for each group, if they are required."""
    if recipe == "te":
        return amaxes(groups)
    if fmt in oracle.TENSOR_FORMATS:
        return np.resize(np.array(GIVEN, np.float32), len(groups))
    return None


# Long enough for all directions.
@functools.lru_cache(maxsize=2 * len(ROWS))
def rows_case(name, element, fmt, recipe, layout, **directions):
    """Groups of rows; the scale offsets are derived."""
    m, k, sizes = ROWS[name]
    k = columns(k, fmt)
    rng = np.random.default_rng(m)
    groups = [matrix(rng, size, k, element) for size in sizes]
    return cases.Case(
        groups, element, fmt, recipe, layout, rows="grouped", capacity=m,
        outer=outers(fmt, recipe, groups), **directions,
    )  # fmt: skip


@functools.lru_cache(maxsize=2 * len(RAGGED))
def ragged_case(name, element, fmt, recipe, layout):
    rng = np.random.default_rng(1)
    groups = [matrix(rng, m, columns(k, fmt), element) for m, k in RAGGED[name]]
    return cases.Case(
        groups, element, fmt, recipe, layout, ragged=True,
        gaps=[16 * e for e in range(len(groups))],
        outer=outers(fmt, recipe, groups),
    )  # fmt: skip


def dbias_case(fmt, element, sizes):
    """Numbers that can be added."""
    rng = np.random.default_rng(2)
    k = columns(272, fmt)
    groups = [rng.standard_normal((m, k), np.float32) for m in sizes]
    groups = [elements.rounded(g, element) for g in groups]
    outside = [np.full((3, k), 1e4, np.float32)] * 2
    return cases.Case(
        groups, element, fmt, layout=layouts(fmt)[0], rows="grouped", outside=outside,
        outer=outers(fmt, "nvfuser", groups),
    )  # fmt: skip


GOLDEN = [
    "nvfp4_te_row_and_column", "nvfp4_te_per_token", "nvfp4_te_column_hadamard",
    "nvfp4_te_stochastic", "nvfp4_te_16x16", "nvfp4_te_four_over_six",
    "nvfp4_te_four_over_six_mse", "mxfp8_e4m3", "mxfp8_e5m2",
    "fp8_e4m3_per_tensor",
]  # fmt: skip


class Golden:
    """A golden case as a Case, of both directions or one of them."""

    NAMES = {
        "outer_amax": "amax",
        "columnwise_outer_amax": "amax_columnwise",
        "columnwise_data": "data_columnwise",
        "columnwise_scales": "scales_columnwise",
    }

    def __init__(self, folder, name, directions="both"):
        manifest = json.loads((folder / "manifest.json").read_text())[name]
        fmt = oracle.ALL_FORMATS[manifest["format"]]
        recipe = manifest.get("recipe", "nvfuser")
        self.attributes = cases.Attributes(
            manifest["format"], recipe, "tile128x4", "all", *self._directions(manifest)
        )
        types = {"data": fmt.data, "scales": fmt.scale, "input": manifest["input"]}
        self._operands, self._expected = {}, {}
        for operand in cases.OPERANDS:
            stored = self.NAMES.get(operand, operand)
            if operand == "rng_state" and "seed" in manifest:
                state = np.array([manifest["seed"], manifest["offset"]], np.uint64)
                self._operands[operand] = cases.Operand(state.view(np.int64), "i64")
            # An amax in the data is what goes in or what comes out.
            if operand == ("amax" if recipe == "te" else "outer_amax"):
                continue
            if stored not in manifest["arrays"]:
                continue
            array = np.load(folder / name / f"{stored}.npy")
            element = types.get(operand.removeprefix("columnwise_"))
            if element is None:
                element = f"{array.dtype.kind}{8 * array.itemsize}"
            if operand in cases.OUTPUTS:
                self._expected[operand] = array
                array = np.full_like(array, cases.POISON)
            if operand == "scales":
                k = self._operands["input"].array.shape[1]
                array = array.reshape(-1, oracle.up(k // fmt.block[1], 4))
            self._operands[operand] = cases.Operand(array, element)
        if directions == "both":
            return
        # What the other direction has; one amax is that of either.
        gone = {"columnwise_data", "columnwise_scales", "columnwise_outer_amax"}
        if directions == "columnwise":
            gone = {"data", "scales", "scale_offsets"}
            if "columnwise_outer_amax" in self._operands:
                gone.add("outer_amax")
        for operand in gone:
            self._operands.pop(operand, None)
            self._expected.pop(operand, None)

    @staticmethod
    def _directions(manifest):
        four = manifest.get("four_over_six", {"error": None, "e4m3_max": 448})
        rowwise = oracle.Direction(
            stochastic=manifest.get("rounding") == "stochastic",
            square=manifest.get("block") == [16, 16],
            outer=manifest.get("outer", "group"),
            four_over_six=four["error"],
            scale_max=four["e4m3_max"],
        )
        columnwise = dataclasses.replace(
            rowwise,
            signs=0xD7E8 if manifest.get("rht") else None,
            outer="column" if rowwise.outer == "row" else rowwise.outer,
        )
        return rowwise, columnwise

    def operands(self):
        return self._operands

    def check(self, results):
        for name, expected in self._expected.items():
            cases.check_bits(results[name], expected, name)


def memref(operand, static):
    """The type of an operand; unless `static`, its extents are dynamic."""
    extents = [f"{n if static else '?'}x" for n in operand.array.shape]
    return f"memref<{''.join(extents)}{operand.element}>"


def clause(word, types, *names):
    """word(%a, %b : type of a, type of b) of those operands that there are."""
    names = [name for name in names if name in types]
    if not names:
        return ""
    values = ", ".join(f"%{name}" for name in names)
    return f"{word}({values} : {', '.join(types[name] for name in names)})"


def direction_text(word, direction):
    """rowwise<...> or columnwise<...>; nothing for the default."""
    d = direction
    parts = {
        "rounding = stochastic": d.stochastic,
        f"transform = hadamard16, signs = {d.signs or 0:#x}": d.signs is not None,
        "block = 16x16": d.square,
        f"outer = {d.outer}": d.outer != "group",
        f"four_over_six = {d.four_over_six}": d.four_over_six,
        f"scale_max = {d.scale_max}": d.four_over_six,
    }
    written = ", ".join(text for text, there in parts.items() if there)
    return f"{word}<{written}>" if written else ""


def op_text(types, attributes):
    """The op on %input, %offsets, ..."""
    a = attributes
    directions = " ".join(direction_text(*d) for d in a.directions(types).items())
    op = f"""gq.grouped_block_quantize format({a.format}) recipe({a.recipe})
        scale_layout({a.layout})"""
    if a.format in oracle.TENSOR_FORMATS:
        op = f"gq.grouped_quantize format({a.format})"
    return f"""{op} rows({a.rows}) {directions}
        {clause("ins", types, "input")}
        {clause("row_indices", types, "row_indices")}
        {clause("groups", types, "offsets", "scale_offsets")}
        {clause("shapes", types, "first_dims", "last_dims")}
        {clause("global_scale", types, "global_scale")}
        {clause("outer_amax", types, "outer_amax")}
        {clause("columnwise_outer_amax", types, "columnwise_outer_amax")}
        {clause("rng_state", types, "rng_state")}
        {clause("scale", types, "scale")}
        {clause("noop_flag", types, "noop_flag")}
        {clause("outs", types, "data", "scales")}
        {clause("columnwise_outs", types, "columnwise_data", "columnwise_scales")}
        {clause("amax_out", types, "amax")}
        {clause("row_amax_out", types, "row_amax")}
        {clause("dbias_out", types, "dbias")}
        {clause("scale_offsets_out", types, "scale_offsets_out")}
        {clause("scale_inv_out", types, "scale_inv")}"""


class Batch:
    """A module that quantizes cases one after another.

    It is of memrefs. A tensor that comes out of a function that is called would
    be a copy.

    Attributes:
      function: MLIR of quantize(operands), for one case.
      text: that and main(arrays), which calls it for each case.
      calls: the cases and their operands.
      arrays: the operands of all cases; main() gives back the outputs, case by
        case.
    """

    def __init__(self, calls, static=False):
        """`calls` are cases and their options; operands of the same types."""
        self.calls = []
        self.arrays, arguments, outputs, body = [], {}, [], ""
        for case, options in calls:
            operands = case.operands(**options)
            self.calls.append((case, operands))
            types = {name: memref(operand, static) for name, operand in operands.items()}
            for operand in operands.values():
                if id(operand.array) not in arguments:
                    arguments[id(operand.array)] = f"%{len(arguments)}", memref(operand, static)
                    self.arrays.append(operand.array)
            passed = {n: arguments[id(o.array)] for n, o in operands.items()}
            outputs += [passed[name] for name in types if name in cases.OUTPUTS]
            body += f"""
            call @quantize({", ".join(value for value, _ in passed.values())})
                : ({", ".join(types.values())}) -> ()"""
        self._outputs = [name for name in types if name in cases.OUTPUTS]

        def declared(pairs):
            return ", ".join(f"{value} : {type}" for value, type in pairs)

        returned = [", ".join(column) for column in zip(*outputs)]
        parameters = declared((f"%{name}", type) for name, type in types.items())
        self.function = f"""
          func.func @quantize({parameters}) {{
            {op_text(types, case.attributes)}
            return
          }}"""
        self.text = f"""{self.function}
          func.func @main({declared(arguments.values())}) -> ({returned[1]}) {{{body}
            return {" : ".join(returned)}
          }}"""

    def check(self, results):
        """Raises AssertionError; equal cases must have equal results."""
        count, seen = len(self._outputs), {}
        assert len(results) == count * len(self.calls)
        for i, (case, _) in enumerate(self.calls):
            of_case = results[count * i : count * (i + 1)]
            case.check(dict(zip(self._outputs, of_case)))
            for a, b in zip(seen.setdefault(id(case), of_case), of_case):
                assert a.tobytes() == b.tobytes(), "results differ from run to run"


def listed(fmt, recipe, layout, element, directions):
    """The lists of shapes; the huge one for a single element type."""
    for name in ROWS:
        if element == "bf16" or ROWS[name][0] < 10000:
            case = rows_case(name, element, fmt, recipe, layout)
            derived = "scale_offsets_out" in case.expected and directions != "columnwise"
            yield case, {"directions": directions, "amax": True, "scale_offsets_out": derived}


def listed_ragged(fmt, recipe, layout, element, directions):
    for name in RAGGED:
        case = ragged_case(name, element, fmt, recipe, layout)
        yield case, {"directions": directions, "amax": True}


def varied(fmt, recipe, layout, element, directions, gather=None, closed=False):
    """What the lists lack: rows before and after, gaps between the tiles,
    open offsets, i32, one outer scale a group, no spare memory."""
    rng = np.random.default_rng(3)
    k = columns(272, fmt)
    given = layout == "tile128x4"
    for front, sizes, back in (3, [40, 0, 129], 4), (0, [0, 1, 300, 0], 0), (7, [64], 1):
        groups = [matrix(rng, size, k, element) for size in sizes]
        outside = [matrix(rng, size, k, element) for size in (front, back)]
        outer = columnwise_outer = None
        if recipe == "te":
            outer = np.float32(30)
            columnwise_outer = amaxes(groups) if fmt == "nvfp4" else None
        elif fmt == "nvfp4" or fmt in oracle.TENSOR_FORMATS:
            outer = rng.uniform(0.5, 40, len(sizes)).astype(np.float32)
        case = cases.Case(
            groups, element, fmt, recipe, layout, rows="all", outside=outside,
            gaps=[e % 3 for e in range(len(sizes))] if given else None,
            closed=closed or directions == "columnwise", index="int32", outer=outer,
            columnwise_outer=columnwise_outer, spare=0, gather=gather,
        )  # fmt: skip
        yield case, {"directions": directions}


def numbered(kind, fmt, recipe, layout, directions, *made):
    """Numbers instead of the codes of a direction, or beside those of the other one.
    `made` are the data rowwise and columnwise, an element type or "codes"."""
    key = fmt, recipe, layout
    numbers = tuple(None if e == "codes" else e for e in made)
    options = {"directions": directions, "numbers": numbers}
    if kind == "ragged":
        return [(ragged_case("odd", "bf16", *key), options)]
    if kind == "rows":
        names = "first_1024x144_empty", "odd_600x144", "odd_1"
        return [(rows_case(name, "f32", *key), options) for name in names]
    made = varied(*key, "bf16", directions, np.random.default_rng(4), closed=True)
    return [(case, options) for case, _ in made]


def gathered(*key):
    return varied(*key, gather=np.random.default_rng(4))


def summed(fmt, element, directions, dbias):
    """dbias with everything else that comes in the same pass."""
    case = dbias_case(fmt, element, [0, 1, 127, 2304, 0, 700])
    return [(case, {"directions": directions, "amax": True, "dbias": dbias})]


def repeated(fmt):
    case = dbias_case(fmt, "bf16", [0, 1, 127, 900, 0, 1000])
    return [(case, {"amax": True, "dbias": "f32"})] * 100


def has_kernel(name):
    """Whether a GPU has a kernel for a Batch: of numbers, rowwise, in blocks of a row."""
    if not name.startswith("numbers"):
        return True
    _, kind, fmt, _, _, directions, *_ = name.split()
    of_rows = fmt in oracle.FORMATS and oracle.FORMATS[fmt].block[0] == 1
    return kind != "ragged" and of_rows and directions == "rowwise"


def batches(golden):
    """What makes a Batch, by name; `golden` is the folder of the golden data."""
    made = {}

    def add(name, calls, *arguments):
        words = " ".join([name, *arguments])
        made[words] = lambda: Batch(list(calls(*arguments)))

    def golden_batch(name, directions):
        return Batch([(Golden(golden, name, directions), {})], static=True)

    manifest = json.loads((golden / "manifest.json").read_text())
    for name in GOLDEN:
        both = {"data", "data_columnwise"} <= set(manifest[name]["arrays"])
        for directions in DIRECTIONS if both else ["both"]:
            made[f"golden {name} {directions}"] = functools.partial(
                golden_batch, name, directions
            )
    for fmt in oracle.ALL_FORMATS:
        for recipe in recipes(fmt):
            for layout in layouts(fmt):
                # An amax that is given concerns no element.
                given = fmt in oracle.TENSOR_FORMATS and recipe == "te"
                for element in ["bf16"] if given else ELEMENTS:
                    for directions in DIRECTIONS:
                        key = fmt, recipe, layout, element, directions
                        add("rows", listed, *key)
                        add("ragged", listed_ragged, *key)
                for directions in DIRECTIONS:
                    add("varied", varied, fmt, recipe, layout, "bf16", directions)
                    add("gathered", gathered, fmt, recipe, layout, "bf16", directions)
                for kind in "rows", "ragged", "gathered":
                    for directions, *numbers in NUMBERS:
                        add("numbers", numbered, kind, fmt, recipe, layout, directions, *numbers)
        for directions in DIRECTIONS:
            add("dbias", summed, fmt, "bf16", directions, "f32")
    for fmt in ("nvfp4", "mxfp8_e4m3", "fp8_e4m3_1x128", "fp8_e4m3"):
        add("repeated", repeated, fmt)
    for element in ELEMENTS:
        for dbias in ELEMENTS:
            add("dbias", summed, "mxfp8_e4m3", element, "both", dbias)
    return made
