# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random configurations of each op, for differential.py.

A configuration is a dict of plain values. `module` draws those that decide the
text of a module whose extents are dynamic, `problem` the sizes and the seed of
what it is called with, `build` makes a Problem of both. `repair` replaces values
that do not go together, so that values can be drawn, and made simpler, one by
one. The first value of each list in OPTIONS is the simplest.

An op enters by a class here and its row in OPS.
"""

import dataclasses
from collections.abc import Callable

import amaxes
import cases
import dequantize
import elements
import epilogues
import formats
import matmul
import numpy as np
import oracle
import test_directions
import test_grouped_mm
import test_grouped_wgrad
import values

# Of groups, where there is a choice; experts of models, and what is around them.
GROUPS = [1, 2, 3, 5, 17, 40, 60, 127, 128, 129, 256]
SIZES = [0, 0, 1, 15, 16, 17, 31, 32, 33, 100, 127, 128, 129, 300]
# What the elements of a matrix may be, in all.
ELEMENTS = 1 << 15


@dataclasses.dataclass
class Argument:
    """An argument of @main: its array, and its type of dynamic and static
    extents."""

    name: str
    array: np.ndarray
    element: str
    encoding: str = ""
    memref: bool = False
    packed: bool = True

    def type(self, static):
        shape, element = list(self.array.shape), self.element
        if not self.packed and element == "i8":
            element, shape[-1] = "f4E2M1FN", 2 * shape[-1]
        dims = "".join(f"{n if static else '?'}x" for n in shape)
        kind = "memref" if self.memref else "tensor"
        return f"{kind}<{dims}{element}{self.encoding}>"

    def constant(self):
        """An op that produces it, with the array in it."""
        data = np.ascontiguousarray(self.array).tobytes().hex().upper()
        value = f'dense<"0x{data}">' if data else "dense<>"
        # Two codes per byte, as nothing but i8 is written in hexadecimal.
        type = dataclasses.replace(self, packed=True, memref=False).type(True)
        return f"%{self.name} = arith.constant {value} : {type}"


@dataclasses.dataclass
class Problem:
    """What a module is called with, and whether its results are right.

    Attributes:
      arguments: of @main, in order.
      outputs: the names of those that are results.
      body: (types by name) -> the ops, in which arguments are %name, and the
        results' values.
      check: (results) raises AssertionError.
      fusion: how it is compiled.
      odd: whether to pass arrays at addresses aligned to their elements alone,
        where addresses can be chosen.
    """

    arguments: list[Argument]
    outputs: list[str]
    body: Callable
    check: Callable
    fusion: bool = True
    odd: bool = False

    def types(self, static):
        return {a.name: a.type(static) for a in self.arguments}

    def function(self, static, name="main"):
        types = self.types(static)
        ops, results = self.body(types)
        declared = ", ".join(f"%{n} : {t}" for n, t in types.items())
        result = ", ".join(types[n] for n in self.outputs)
        return f"""
          func.func @{name}({declared}) -> ({result}) {{
            {ops}
            return {", ".join(results)} : {result}
          }}"""

    def arrays(self):
        return [a.array for a in self.arguments]


@dataclasses.dataclass
class TextProblem(Problem):
    """One whose function is written elsewhere: text (static) -> MLIR of @main."""

    text: Callable = None

    def function(self, static, name="main"):
        return self.text(static).replace("@main", f"@{name}")


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


def group_sizes(rng, unit):
    """Rows of each group; `unit` elements a row."""
    count = pick(rng, GROUPS) if rng.random() < 0.2 else int(rng.integers(1, 6))
    left, sizes = max(1, ELEMENTS // unit), []
    for _ in range(count):
        size = pick(rng, SIZES) if rng.random() < 0.6 else int(rng.integers(0, 70))
        sizes.append(min(size, left))
        left -= sizes[-1]
    return sizes


def factors(rng, kind, count):
    """Outer scales or amaxes of a kind: none, scalar, group."""
    if kind == "none":
        return None
    shape = () if kind == "scalar" else (count,)
    drawn = np.exp2(rng.uniform(-20, 20, shape)) * rng.choice([1.0, 1.0, -1.0], shape)
    hard = np.array([0, -0.0, 2688, 2.0**-140, 3e38, np.inf, np.nan])
    with np.errstate(all="ignore"):
        chosen = np.where(rng.random(shape) < 0.2, rng.choice(hard, shape), drawn)
        return chosen.astype(np.float32)


def draw(rng, options):
    return {name: pick(rng, of) for name, of in options.items()}


FORMATS = list(oracle.FORMATS)


# What a direction may do in its own way, by number; 0 is nothing.
NUM_DIRECTIONS = max(map(len, test_directions.ALL.values()))


# Of the recipe te.
OUTER_OF_ROW, OUTER_OF_COLUMN = (
    test_directions.ALL["te", line == "column"].index(oracle.Direction(outer=line))
    for line in ("row", "column")
)
SMALL_SCALES, SMALL_SCALES_OF_COLUMNS = (
    test_directions.ALL["te", columnwise].index(
        oracle.Direction(four_over_six="mse", scale_max=256)
    )
    for columnwise in (False, True)
)


def directions_of(c):
    return (
        test_directions.ALL[c["recipe"], word == "columnwise"][c.get(word, 0)]
        for word in ("rowwise", "columnwise")
    )


def case_of(rng, c):
    """The cases.Case of a configuration of an op on groups."""
    element, block = c["element"], oracle.ALL_FORMATS[c["format"]].block[1]
    rowwise, columnwise = directions_of(c)

    def matrix(m, k):
        if c["hard"] and not c.get("dbias"):
            return formats.matrix(rng, m, k * block, element)
        x = rng.standard_normal((m, k * block), np.float32)
        return elements.rounded(x, element)

    groups = [matrix(m, k if c["ragged"] else c["k"]) for m, k, _ in c["groups"]]
    outside = None if c["ragged"] else [matrix(c[n], c["k"]) for n in ("front", "back")]
    gaps = None
    if c["ragged"]:
        gaps = [16 * gap for _, _, gap in c["groups"]]
    elif c["given"]:
        gaps = [gap for _, _, gap in c["groups"]]
    outer = factors(rng, c["outer"], len(groups))
    if c.get("row_amax"):
        front, back = outside
        outer = oracle.amax(np.concatenate([front, *groups, *([back] if c["closed"] else [])]), 1)
    columnwise_outer = factors(rng, c["columnwise_outer"], len(groups))
    if rowwise.outer == "row" and not c.get("row_amax"):
        rows = sum(len(g) for g in groups) + len(outside[0])
        outer = factors(rng, "group", rows + (len(outside[1]) if c["closed"] else 0))
    if columnwise.outer == "column":
        k = c["k"] * block
        columnwise_outer = factors(rng, "group", len(groups) * k).reshape(-1, k)
    return cases.Case(
        groups, element, c["format"], c["recipe"], c["layout"], rows=c["rows"],
        outside=outside, ragged=c["ragged"], gaps=gaps, closed=c["closed"],
        index=c["index"], outer=outer, columnwise_outer=columnwise_outer,
        spare=c["spare"], gather=rng if c["gather"] else None,
        rowwise=rowwise, columnwise=columnwise, rng=(c["seed"], 3),
    )  # fmt: skip


def numbers_of(c):
    """The type of numbers instead of codes of each direction, or None."""
    return [None if e == "codes" else e for e in (c["numbers"] or "codes codes").split()]


class Configuration:
    """What configurations of most ops begin with: any value of each of OPTIONS."""

    @classmethod
    def module(cls, rng):
        return draw(rng, cls.OPTIONS)

    @staticmethod
    def repair(c):
        """Changes options that are not allowed together."""


class GroupedBlockQuantize(Configuration):
    OPTIONS = {
        "format": FORMATS,
        "recipe": ["nvfuser", "te"],
        "layout": ["linear", "tile128x4"],
        "element": formats.ELEMENTS,
        "index": ["int32", "int64"],
        "rows": ["grouped", "all"],
        "directions": formats.DIRECTIONS,
        "ragged": [False, False, True],
        "gather": [False, False, True],
        "given": [False, True],
        "closed": [True, False],
        "outer": ["none", "scalar", "group"],
        "columnwise_outer": ["none", "none", "scalar", "group"],
        "amax": [False, True],
        "row_amax": [False, True],
        "noop": [None] * 8 + [0, 7],
        "dbias": [None, None, None, "f32", "bf16", "f16"],
        # Rowwise and columnwise: codes, or numbers of a type.
        "numbers": [None] * 6 + ["f32 codes", "bf16 f16", "codes f32", "f16 bf16"],
        "scale_offsets_out": [False, True],
        "producer": ["none", "none", "negate", "rows", "columns"],
        # The op on memrefs or tensors; two ops that are to be fused.
        "form": ["memref", "tensor", "pair"],
        "packed": [True, False],
        "fusion": [True, True, False],
        "rowwise": [*[0] * NUM_DIRECTIONS, *range(1, NUM_DIRECTIONS)],
        "columnwise": [*[0] * NUM_DIRECTIONS, *range(1, NUM_DIRECTIONS)],
    }

    @classmethod
    def module(cls, rng):
        c = super().module(rng)
        if "nvfp4" in cls.OPTIONS["format"] and rng.random() < 0.2:  # Has most options.
            c |= {"format": "nvfp4", "recipe": "te"}
        if rng.random() < 0.1:
            c |= {"row_amax": True, "directions": "rowwise", "rowwise": OUTER_OF_ROW}
        return c

    @staticmethod
    def repair(c):
        fmt = oracle.ALL_FORMATS[c["format"]]
        given = c["format"] in oracle.TENSOR_FORMATS
        if c["recipe"] not in formats.recipes(c["format"]):
            c["recipe"] = "nvfuser"
        if c["layout"] not in formats.layouts(c["format"]):
            c["layout"] = "linear"
        if c["form"] == "pair":
            # gq.block_quantize and gq.preprocess_grouped_matmul_sf.
            if fmt.scale in ("f32", None) or c["producer"] != "none" or c["numbers"]:
                c["form"] = "tensor"
            else:
                c |= {"recipe": "nvfuser", "layout": "tile128x4", "rows": "all",
                      "directions": "rowwise", "ragged": False, "gather": False,
                      "given": True, "amax": False, "dbias": None,
                      "noop": None, "scale_offsets_out": False}  # fmt: skip
                c["outer"] = "none" if c["outer"] == "group" else c["outer"]
        if c["ragged"]:
            c |= {"gather": False, "dbias": None, "producer": "none", "given": False}
        rows_of_numbers = numbers_of(c)[0] is not None
        if c["layout"] == "linear" or (rows_of_numbers and c["directions"] != "columnwise"):
            c |= {"given": False, "scale_offsets_out": False}
        if c["directions"] == "columnwise":
            c["given"] = False
        if not c["given"]:
            c["closed"] = True
        if c["given"] or c["layout"] == "linear" or c["ragged"] or c["directions"] == "columnwise":
            c["scale_offsets_out"] = False
        if c["format"] != "nvfp4" and not given:
            c["outer"] = "none"
        if (c["recipe"] == "te" or given) and c["outer"] == "none":
            c["outer"] = "group"
        if c["recipe"] != "te" or c["directions"] == "rowwise" or given:
            c["columnwise_outer"] = "none"
        for word in "rowwise", "columnwise":
            of = test_directions.ALL[c["recipe"], word == "columnwise"]
            c[word] %= len(of)
            other = c["directions"] not in (word, "both") or c["form"] == "pair"
            if c["format"] != "nvfp4" or other or (c["ragged"] and of[c[word]].outer != "group"):
                c[word] = 0
        rowwise, columnwise = directions_of(c)
        if columnwise.outer == "column" or (rowwise.outer == "row" and c["directions"] == "both"):
            c["columnwise_outer"] = "group"
        c["row_amax"] &= rowwise.outer == "row" and c["directions"] == "rowwise"
        if c["numbers"] and c.get("gpu"):
            if c["format"] in oracle.FORMATS and fmt.block[0] == 1 and rows_of_numbers:
                c |= {"directions": "rowwise", "ragged": False, "rowwise": 0, "columnwise": 0,
                      "columnwise_outer": "none", "amax": False, "row_amax": False,
                      "dbias": None}  # fmt: skip
            else:  # No kernel does that.
                c["numbers"] = None
        if c["row_amax"] and c.get("gpu"):  # One kernel does that.
            c |= {"amax": False, "dbias": None, "rowwise": OUTER_OF_ROW, "static": True}
        if c["producer"] != "none":
            c["form"] = "tensor"
        if c["form"] == "memref":
            c["packed"] = True

    @staticmethod
    def problem(rng, c):
        block = oracle.ALL_FORMATS[c["format"]].block[1]
        widths = [1, 1, 2, 3, 5, max(1, 272 // block), max(1, 1040 // block)]
        k = pick(rng, widths)
        groups = []
        for m in group_sizes(rng, k * block):
            width = pick(rng, [0, *widths]) if c["ragged"] else k
            groups.append([m, width, pick(rng, [0, 0, 1, 2])])
        around = [int(rng.integers(0, 5)) if rng.random() < 0.4 else 0 for _ in "fb"]
        return {"groups": groups, "k": k, "front": around[0], "back": around[1],
                "spare": pick(rng, [0, 5]), "hard": bool(rng.random() < 0.8)}  # fmt: skip

    @staticmethod
    def build(c):
        rng = np.random.default_rng(c["seed"])
        case = case_of(rng, c)
        operands = case.operands(
            directions=c["directions"], amax=c["amax"], dbias=c["dbias"],
            scale_offsets_out=c["scale_offsets_out"], row_amax=c["row_amax"], noop=c["noop"],
            numbers=numbers_of(c),
        )  # fmt: skip
        tiled = ", #gq.tile128x4" if c["layout"] == "tile128x4" and c["form"] != "memref" else ""
        arguments = [
            Argument(name, o.array, o.element, tiled if name.endswith("scales") else "",
                     c["form"] == "memref", c["packed"] or "data" not in name)
            for name, o in operands.items()
        ]  # fmt: skip
        if c["producer"] != "none":
            GroupedBlockQuantize._produce(rng, c, arguments)
        outputs = [n for n in operands if n in cases.OUTPUTS]
        return Problem(
            arguments, outputs, lambda types: GroupedBlockQuantize._body(c, case, types, outputs),
            lambda results: case.check(dict(zip(outputs, results))), c["fusion"],
        )  # fmt: skip

    @staticmethod
    def _produce(rng, c, arguments):
        """Makes the input what a product with signs, or a negation, turns into it."""
        a = next(a for a in arguments if a.name == "input")
        m, k = a.array.shape
        shape = {"negate": (1, 1), "rows": (m, 1), "columns": (1, k)}[c["producer"]]
        negative = rng.random(shape) < 0.5 if c["producer"] != "negate" else np.ones(shape, bool)
        bits = a.array.view(f"u{a.array.itemsize}")
        sign = bits.dtype.type(1 << 8 * bits.itemsize - 1)
        a.array = np.where(negative, bits ^ sign, bits).view(a.array.dtype)
        if c["producer"] != "negate":
            signs = np.where(negative, -1.0, 1.0).astype(np.float32).reshape(-1)
            signs = elements.encode(signs, a.element)
            arguments.insert(1, Argument("signs", signs, a.element))

    @staticmethod
    def _body(c, case, types, outputs):
        before = ""
        if c["producer"] != "none":
            e, x = c["element"], types["input"]
            extra = {"negate": "", "rows": ", affine_map<(m, k) -> (m)>",
                     "columns": ", affine_map<(m, k) -> (k)>"}[c["producer"]]  # fmt: skip
            signs = "signs" in types
            before = f"""
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %rows_of_input = tensor.dim %input, %c0 : {x}
            %columns_of_input = tensor.dim %input, %c1 : {x}
            %dynamic = tensor.empty(%rows_of_input, %columns_of_input) : tensor<?x?x{e}>
            %empty = tensor.cast %dynamic : tensor<?x?x{e}> to {x}
            %produced = linalg.generic {{
                indexing_maps = [affine_map<(m, k) -> (m, k)>{extra}, affine_map<(m, k) -> (m, k)>],
                iterator_types = ["parallel", "parallel"]}}
                ins(%input{", %signs" if signs else ""} : {x}{", " + types["signs"] if signs else ""})
                outs(%empty : {x}) {{
            ^bb0(%a : {e}{f", %s : {e}" if signs else ""}, %unused : {e}):
              %r = {"arith.mulf %a, %s" if signs else "arith.negf %a"} : {e}
              linalg.yield %r : {e}
            }} -> {x}"""
        names = [f"%r{i}" for i in range(len(outputs))]
        result = ", ".join(types[n] for n in outputs)
        if c["form"] == "memref":
            return formats.op_text(types, case.attributes), [f"%{n}" for n in outputs]
        if c["form"] == "pair":
            return GroupedBlockQuantize._pair(c, types), names
        op = formats.op_text(types, case.attributes)
        if before:
            op = op.replace("ins(%input", "ins(%produced", 1)
        return f"{before}\n{', '.join(names)} = {op} -> {result}", names

    @staticmethod
    def _pair(c, types):
        fmt = oracle.FORMATS[c["format"]]
        linear = f"tensor<?x?x{fmt.scale}>"
        scale = formats.clause("global_scale", types, "global_scale")
        q, t = types["data"], types["scales"]
        return f"""
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %block = arith.constant {fmt.block[1]} : index
            %rows_of_input = tensor.dim %input, %c0 : {types["input"]}
            %columns_of_input = tensor.dim %input, %c1 : {types["input"]}
            %columns = arith.divui %columns_of_input, %block : index
            %l0 = tensor.empty(%rows_of_input, %columns) : {linear}
            %r0, %l = gq.block_quantize format({c["format"]})
                ins(%input : {types["input"]}) {scale}
                outs(%data, %l0 : {q}, {linear}) -> {q}, {linear}
            %r1 = gq.preprocess_grouped_matmul_sf format({c["format"]})
                ins(%l : {linear})
                {formats.clause("groups", types, "offsets", "scale_offsets")}
                outs(%scales : {t}) -> {t}"""


class GroupedQuantize(GroupedBlockQuantize):
    OPTIONS = {
        **GroupedBlockQuantize.OPTIONS,
        "format": list(oracle.TENSOR_FORMATS),
        "layout": ["linear"],
        "outer": ["scalar", "group"],
    }


class UpdateScales(Configuration):
    OPTIONS = {
        "format": list(oracle.TENSOR_FORMATS),
        "algo": ["max", "most_recent"],
        "margin": [0, 1, 126],
    }

    @staticmethod
    def problem(rng, c):
        return {"length": int(rng.integers(1, 6)), "groups": pick(rng, [0, *GROUPS])}

    @staticmethod
    def build(c):
        rng = np.random.default_rng(c["seed"])
        shape = max(1, c["length"]), c["groups"]
        amax = np.abs(factors(rng, "group", shape[1]))
        history = np.abs(factors(rng, "group", shape[0] * shape[1])).reshape(shape)
        scale = factors(rng, "group", shape[1])
        wanted = oracle.update_scales(c["format"], amax, history, scale, c["algo"], c["margin"])
        stored = [cases.Poisoned(x.shape, np.float32) for x in (history, scale)]
        for s, x in zip(stored, (history, scale)):
            s.array[:] = x
        arguments = [
            Argument("amax", amax, "f32"),
            Argument("history", stored[0].array, "f32"),
            Argument("scale", stored[1].array, "f32"),
        ]

        def body(t):
            return f"""%h, %s = gq.update_scales format({c["format"]})
                amax_algo({c["algo"]}) margin({c["margin"]}) {formats.clause("ins", t, "amax")}
                {formats.clause("outs", t, "history", "scale")}
                -> {t["history"]}, {t["scale"]}""", ["%h", "%s"]

        wanted = [x.astype(np.float32) for x in wanted]
        return Problem(arguments, ["history", "scale"], body, equal(wanted, stored))


class GroupOffsets(Configuration):
    OPTIONS = {
        "counts": ["i32", "i64"],
        "index": ["i32", "i64"],
        "closed": [True, False],
        "scales": [True, False],
        "memref": [False, True],
    }

    @staticmethod
    def problem(rng, c):
        return {
            "groups": pick(rng, [0, 31, 32, 33, 4096, *GROUPS]),
            "largest": pick(rng, [1, 300, 1 << 18]),
        }

    @staticmethod
    def build(c):
        rng = np.random.default_rng(c["seed"])
        dtypes = {"i32": np.int32, "i64": np.int64}
        counts = rng.integers(0, c["largest"], c["groups"]).astype(dtypes[c["counts"]])
        counts[rng.random(c["groups"]) < 0.3] = 0
        wanted = oracle.group_offsets(counts, dtypes[c["index"]], c["closed"])
        names = ["offsets", "scale_offsets"] if c["scales"] else ["offsets"]
        stored = [cases.Poisoned(x.shape, x.dtype) for x, _ in zip(wanted, names)]
        arguments = [Argument("counts", counts, c["counts"])]
        arguments += [Argument(n, s.array, c["index"]) for n, s in zip(names, stored)]
        for a in arguments:
            a.memref = c["memref"]

        def body(t):
            op = f"""gq.group_offsets {formats.clause("ins", t, "counts")}
                {formats.clause("outs", t, *names)}"""
            if c["memref"]:
                return op, [f"%{n}" for n in names]
            results = [f"%{n}_result" for n in names]
            types = ", ".join(t[n] for n in names)
            return f"{', '.join(results)} = {op} -> {types}", results

        return Problem(arguments, names, body, equal(wanted[: len(names)], stored))


def groups_of(c):
    """values.Groups of a configuration with "groups" [m, gap]."""
    gaps = [gap for _, gap in c["groups"]] + [0]
    sizes = [m for m, _ in c["groups"]]
    return values.Groups(c["front"], sizes, c["back"], gaps, c["index"], c["closed"])


def positions(rng, unit):
    """The part of a problem that groups_of() reads."""
    groups = [[m, pick(rng, [0, 0, 1, 2])] for m in group_sizes(rng, unit)]
    around = [int(rng.integers(0, 5)) if rng.random() < 0.4 else 0 for _ in "fb"]
    return {"groups": groups, "front": around[0], "back": around[1]}


class BlockQuantize(Configuration):
    OPTIONS = {
        "format": FORMATS,
        "element": formats.ELEMENTS,
        "outer": ["none", "scalar"],
        "memref": [False, True],
        "packed": [True, False],
    }

    @staticmethod
    def repair(c):
        if c["format"] != "nvfp4":
            c["outer"] = "none"
        if c["memref"]:
            c["packed"] = True

    @staticmethod
    def problem(rng, c):
        return {"m": pick(rng, SIZES), "k": int(rng.integers(1, 9))}

    @staticmethod
    def build(c):
        rng = np.random.default_rng(c["seed"])
        fmt, element = oracle.FORMATS[c["format"]], c["element"]
        x = formats.matrix(rng, c["m"], c["k"] * fmt.block[1], element)
        outer = factors(rng, c["outer"], 1)
        codes, linear = oracle.quantize_rows(x, c["format"], outer=outer)
        wanted = [oracle.stored(codes, c["format"]), linear]
        stored = [cases.Poisoned(w.shape, w.dtype) for w in wanted]
        arguments = [Argument("input", elements.encode(x, element), element)]
        if outer is not None:
            arguments.append(Argument("global_scale", outer, "f32"))
        arguments += [
            Argument("data", stored[0].array, fmt.data, packed=c["packed"]),
            Argument("scales", stored[1].array, fmt.scale),
        ]
        for a in arguments:
            a.memref = c["memref"]

        def body(t):
            result = "" if c["memref"] else f"-> {t['data']}, {t['scales']}"
            names = ["%data", "%scales"] if c["memref"] else ["%q", "%s"]
            return f"""{"" if c["memref"] else "%q, %s = "}gq.block_quantize format({c["format"]}) scale_layout(linear)
                {formats.clause("ins", t, "input")} {formats.clause("global_scale", t, "global_scale")}
                {formats.clause("outs", t, "data", "scales")} {result}""", names

        return Problem(arguments, ["data", "scales"], body, equal(wanted, stored))


def equal(wanted, stored):
    """The check that results are `wanted`, and nothing around `stored` changed."""

    def check(results):
        for i, (actual, expected) in enumerate(zip(results, wanted, strict=True)):
            cases.check_bits(actual, expected, f"result {i}")
        for s in stored:
            s.check_surroundings()

    return check


class PreprocessGroupedMatmulSf(Configuration):
    OPTIONS = {
        "format": [n for n, f in oracle.FORMATS.items() if f.scale != "f32"],
        "index": ["int32", "int64"],
        "closed": [True, False],
    }

    @staticmethod
    def problem(rng, c):
        return {"columns": int(rng.integers(1, 20)), **positions(rng, 64)}

    @staticmethod
    def build(c):
        rng = np.random.default_rng(c["seed"])
        fmt, g = oracle.FORMATS[c["format"]], groups_of(c)
        linear = rng.integers(0, 256, (g.m, c["columns"]), np.uint8)
        tiles = cases.Poisoned((g.scale_rows, oracle.up(c["columns"], 4)))
        wanted = oracle.preprocess_grouped_matmul_sf(
            linear, g.offsets, g.scale_offsets, tiles.array
        )
        index = f"i{8 * g.offsets.itemsize}"
        arguments = [
            Argument("input", linear, fmt.scale),
            Argument("offsets", g.offsets, index),
            Argument("scale_offsets", g.scale_offsets, index),
            Argument("scales", tiles.array, fmt.scale, ", #gq.tile128x4"),
        ]

        def body(t):
            return f"""%t = gq.preprocess_grouped_matmul_sf format({c["format"]}) scale_layout(tile128x4)
                {formats.clause("ins", t, "input")}
                {formats.clause("groups", t, "offsets", "scale_offsets")}
                {formats.clause("outs", t, "scales")} -> {t["scales"]}""", ["%t"]

        return Problem(arguments, ["scales"], body, equal([wanted], [tiles]))


class Product(Configuration):
    """gq.grouped_mm and gq.grouped_wgrad, whose problems others make.

    Sums on a GPU are of float32, in any order: there scales are such that no part
    of a sum overflows.
    """

    @staticmethod
    def of(c, p):
        if c.get("gpu"):
            fmt = oracle.FORMATS.get(c["pair"][0])
            bytes = (fmt is None or fmt.scale == "f32") and c["kernel"] in (None, *TILES)
            p.precision = oracle.BYTES if bytes else oracle.F32
        elements_of = p.elements()
        tiled = c["pair"][0] in oracle.FORMATS and oracle.FORMATS[c["pair"][0]].scale != "f32"
        arguments = [
            Argument(
                name, x, elements_of[name],
                ", #gq.tile128x4" if tiled and name in ("a_scales", "b_scales") else "",
                packed=c["packed"] or name not in ("a", "b"),
            )
            for name, x in p.operands.items()
        ]  # fmt: skip
        return Problem(
            arguments, ["out"], lambda t: (f"%c = {p.op(t)}", ["%c"]),
            lambda results: p.check(results[0]),
        )  # fmt: skip


# Kernels that may be or become one of tiles.
TILES = ["auto", "tiles32", "tiles64", "tiles128", "tiles256"]


class GroupedMm(Product):
    OPTIONS = {
        "pair": matmul.pairs(one_row=True),
        "kernel": [None, "any", "decode8", "decode16", *TILES],
        "out": formats.ELEMENTS,
        "alpha": [False, True],
        "row_scales": [False, True],
        "column_scales": [False, True],
        "bias": [None, None, *formats.ELEMENTS],
        "major": ["k", "k", "n"],
        "pairs": [None, "interleaved", "halves"],
        "product": [None, None, *formats.ELEMENTS],
        "index": ["int32", "int64"],
        "closed": [True, False],
        "packed": [True, False],
    }

    @staticmethod
    def repair(c):
        if not test_grouped_mm.has_major(c["pair"][1]):
            c["major"] = "k"
        if c["major"] == "n" and c["kernel"] not in (None, "auto"):
            c["kernel"] = "any"
        if test_grouped_wgrad.block_of(c["pair"][0]) == 32 and c["kernel"] in TILES:
            c["kernel"] = "auto"
        if c["pair"][0] not in oracle.FORMATS or oracle.FORMATS[c["pair"][0]].scale == "f32":
            c["closed"] = True

    @staticmethod
    def problem(rng, c):
        block = test_grouped_wgrad.block_of(c["pair"][0])
        k = pick(rng, [1, 1, 2, 3]) if block > 1 else pick(rng, [16, 32, 48, 128])
        n = pick(rng, [1, 7, 32, 33, 128, 130])
        return {"n": n, "k": k, "wide": bool(rng.random() < 0.3), **positions(rng, 8 * k * block)}

    @staticmethod
    def build(c):
        block = test_grouped_wgrad.block_of(c["pair"][0])
        epilogue = c["product"] and epilogues.Epilogue(c["pairs"], c["product"])
        even = c["major"] == "n" or (epilogue and c["pairs"])
        n = oracle.up(c["n"], 2) if even else c["n"]
        p = test_grouped_mm.problem(
            np.random.default_rng(c["seed"]), c["pair"], groups_of(c), n, c["k"] * block,
            c["out"], [f for f in test_grouped_mm.FACTORS if c[f]], c["bias"],
            c["wide"] and not c.get("gpu"),
            c["major"], epilogue, c["kernel"],
        )  # fmt: skip
        return Product.of(c, p)


class GroupedWgrad(Product):
    OPTIONS = {
        "pair": matmul.pairs(one_row=False),
        "kernel": [None, "auto", "any", "tiles128"],
        "out": formats.ELEMENTS,
        "alpha": [False, True],
        "index": ["int32", "int64"],
        "packed": [True, False],
    }

    @staticmethod
    def problem(rng, c):
        n, k = (int(rng.integers(1, 5)) for _ in "nk")
        if test_grouped_wgrad.block_of(c["pair"][0]) == 128:
            n = k = 1
        return {"n": n, "k": k, "wide": bool(rng.random() < 0.3),
                "spare": pick(rng, [0, 3]), **positions(rng, 256)}  # fmt: skip

    @staticmethod
    def build(c):
        block = test_grouped_wgrad.block_of(c["pair"][0])
        p = test_grouped_wgrad.problem(
            np.random.default_rng(c["seed"]), c["pair"], [m for m, _ in c["groups"]],
            c["n"] * block, c["k"] * block, c["out"], c["alpha"],
            c["wide"] and not c.get("gpu"), c["front"],
            c["spare"], c["index"],
        )  # fmt: skip
        p.attributes = f"kernel({c['kernel']})" if c["kernel"] else ""
        return Product.of(c, p)


class BlockDequantize(Configuration):
    OPTIONS = {
        "format": FORMATS,
        "out": formats.ELEMENTS,
        "outer": ["none", "scalar"],
        "memref": [False, True],
        "packed": [True, False],
        "epilogue": [None, None, *formats.ELEMENTS],
    }

    problem = BlockQuantize.problem

    @staticmethod
    def repair(c):
        BlockQuantize.repair(c)
        if c["memref"]:
            c["epilogue"] = None

    @staticmethod
    def build(c):
        rng = np.random.default_rng(c["seed"])
        fmt, out = oracle.FORMATS[c["format"]], c["out"]
        shape = c["m"], c["k"] * fmt.block[1]
        codes = oracle.codes_of(matmul.codes(rng, shape, c["format"]), c["format"])
        blocks = oracle.up(c["m"], fmt.block[0]) // fmt.block[0], c["k"]
        linear = matmul.scales(rng, blocks, c["format"], wide=True)
        outer = factors(rng, c["outer"], 1)
        wanted = oracle.dequantize_rows(codes, linear, c["format"], outer=outer)
        stored = cases.Poisoned(shape, elements.DTYPES[out])
        arguments = [
            Argument("data", oracle.stored(codes, c["format"]), fmt.data, packed=c["packed"]),
            Argument("scales", linear, fmt.scale),
        ]
        if outer is not None:
            arguments.append(Argument("global_scale", outer, "f32"))
        arguments.append(Argument("out", stored.array, out))
        for a in arguments:
            a.memref = c["memref"]
        epilogue = c["epilogue"] and epilogues.Epilogue(None, c["epilogue"])

        def body(t):
            return f"""{"" if c["memref"] else "%y = "}gq.block_dequantize format({c["format"]})
                scale_layout(linear) {formats.clause("ins", t, "data", "scales")}
                {formats.clause("global_scale", t, "global_scale")}
                {epilogue.region(out) if epilogue else ""}
                {formats.clause("outs", t, "out")} {"" if c["memref"] else "-> " + t["out"]}
                """, ["%out" if c["memref"] else "%y"]

        wanted = dequantize.stored_float(wanted, out, epilogue)

        def check(results):
            found = results[0].view(stored.array.dtype)
            dequantize.check_out(found, wanted, out, epilogue)
            stored.check_surroundings()

        return Problem(arguments, ["out"], body, check)


class GroupedDequantize(Configuration):
    OPTIONS = {
        "format": [*FORMATS, *oracle.TENSOR_FORMATS],
        "recipe": ["nvfuser", "te"],
        "layout": ["linear", "tile128x4"],
        "axis": dequantize.AXES,
        "out": formats.ELEMENTS,
        "index": ["int32", "int64"],
        "ragged": [False, False, True],
        "given": [False, True],
        "closed": [True, False],
        "outer": ["none", "scalar", "group"],
        "columnwise_outer": ["none", "none", "scalar", "group"],
        "any_bytes": [False, True],
        "form": ["memref", "tensor"],
        "packed": [True, False],
        "rowwise": [0, 0, OUTER_OF_ROW, SMALL_SCALES],
        "columnwise": [0, 0, OUTER_OF_COLUMN, SMALL_SCALES_OF_COLUMNS],
        "epilogue": [None, None, *formats.ELEMENTS],
    }

    @staticmethod
    def repair(c):
        if c["ragged"] or c["form"] == "memref":
            c["epilogue"] = None
        quantized = {
            **c, "element": "f32", "rows": "grouped", "gather": False, "amax": False,
            "directions": c["axis"], "dbias": None, "scale_offsets_out": False,
            "row_amax": False, "noop": None, "producer": "none", "numbers": None,
        }  # fmt: skip
        if c["recipe"] != "te":
            quantized |= {"rowwise": 0, "columnwise": 0}
        if c["format"] in oracle.TENSOR_FORMATS:
            quantized["recipe"] = "nvfuser"  # The scale is given.
        GroupedBlockQuantize.repair(quantized)
        c |= {name: quantized[name] for name in c}

    problem = GroupedBlockQuantize.problem

    @staticmethod
    def build(c):
        rng = np.random.default_rng(c["seed"])
        case = case_of(rng, {**c, "element": "f32", "rows": "grouped", "gather": False})
        epilogue = c["epilogue"] and epilogues.Epilogue(None, c["epilogue"])
        p = dequantize.Problem(
            case, c["axis"], c["out"], rng if c["any_bytes"] else None, epilogue
        )
        memref = c["form"] == "memref"
        tiled = "" if memref or c["layout"] == "linear" else ", #gq.tile128x4"
        arguments = [
            Argument(name, o.array, o.element, tiled if name == "scales" else "", memref,
                     c["packed"] or name != "data")
            for name, o in p.operands.items()
        ]  # fmt: skip

        def body(t):
            op = dequantize.op_text(
                t, p.attributes, epilogue.region(c["out"]) if epilogue else ""
            )
            return (op, ["%out"]) if memref else (f"%y = {op} -> {t['out']}", ["%y"])

        return Problem(arguments, ["out"], body, lambda results: p.check(results[0].view(p.out.array.dtype)))


class GroupedAmax(Configuration):
    OPTIONS = {
        "element": formats.ELEMENTS,
        "index": ["i32", "i64"],
        "rows": ["grouped", "all"],
        "ragged": [False, False, True],
        "gather": [False, True],
        "producer": [False, True],
        "amax": [True, False],
        "row_amax": [False, True],
        "column_amax": [False, True],
        "signs": [None, 0, 0xD7E8],
        "noop": [None] * 4 + [0, 7],
        "columnwise_amax": [False, True],
    }

    @staticmethod
    def repair(c):
        c["columnwise_amax"] &= c["signs"] is not None
        if c["ragged"]:
            c |= {"gather": False, "producer": False, "amax": True, "row_amax": False,
                  "column_amax": False}  # fmt: skip
        c["amax"] = c["amax"] or not any(c[n] for n in amaxes.OUTPUTS)

    @staticmethod
    def problem(rng, c):
        k = pick(rng, [1, 3, 8, 17, 65])
        groups = []
        for m in group_sizes(rng, 16 * k):
            groups.append([m, pick(rng, [0, 1, 3, 8, 17]) if c["ragged"] else k])
        return {"groups": groups, "k": k, "outside": [int(x) for x in rng.integers(0, 4, 2)]}

    @staticmethod
    def build(c):
        sizes = [(m, 16 * k) if c["ragged"] else m for m, k in c["groups"]]
        p = amaxes.Problem(
            np.random.default_rng(c["seed"]), sizes, None if c["ragged"] else 16 * c["k"],
            c["element"], [n for n in amaxes.OUTPUTS if c[n]], c["index"], c["rows"],
            outside=c["outside"], gather=c["gather"], producer=c["producer"], signs=c["signs"],
            noop=c["noop"],
        )  # fmt: skip

        def text(static):
            p.static = static
            return p.text

        arguments = [Argument(n, o.array, o.element) for n, o in p.operands().items()]
        outputs = [n for n in amaxes.OUTPUTS if c[n]]
        return TextProblem(arguments, outputs, None, p.check, text=text)


OPS = {
    "block_quantize": BlockQuantize,
    "preprocess_grouped_matmul_sf": PreprocessGroupedMatmulSf,
    "grouped_block_quantize": GroupedBlockQuantize,
    "grouped_quantize": GroupedQuantize,
    "update_scales": UpdateScales,
    "group_offsets": GroupOffsets,
    "grouped_amax": GroupedAmax,
    "grouped_mm": GroupedMm,
    "grouped_wgrad": GroupedWgrad,
    "block_dequantize": BlockDequantize,
    "grouped_dequantize": GroupedDequantize,
}
# How often each is drawn; an op that is not here, once.
WEIGHTS = {"grouped_block_quantize": 6, "grouped_mm": 2, "grouped_dequantize": 2, "grouped_quantize": 2}


def draw_module(rng, ops, gpu=False):
    """The part of a configuration that decides a module's text."""
    op = pick(rng, [op for op in ops for _ in range(WEIGHTS.get(op, 1))])
    c = {"op": op, "gpu": gpu, **OPS[op].module(rng), "static": bool(rng.random() < 0.3)}
    OPS[op].repair(c)
    return c


def draw_problem(rng, module):
    """A configuration of this module."""
    seed = int(rng.integers(0, 2**32))
    return {**module, **OPS[module["op"]].problem(rng, module), "seed": seed}


def build(c):
    problem = OPS[c["op"]].build(c)
    problem.odd = bool(c["seed"] % 2)
    return problem
