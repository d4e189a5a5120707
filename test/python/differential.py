# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random configurations of every op, compiled and run, against the oracle.

    differential.py [--target cpu|cuda] [--count N] [--seconds S] [--seed S]
                    [--ops grouped_mm,...] [--out FOLDER]
    differential.py --gq-run PATH ...
    differential.py --replay FOLDER/failure-0.mlir

One process compiles a module of dynamic extents, calls it with several problems,
and goes on to the next; some problems get a module of their static extents. With
--gq-run that program does a module's problems in one call, several at once. The
oracle is NumPy, so every byte is compared with what neither target computed. On
a GPU half of the problems have arguments at addresses that are aligned to their
elements alone, and the memory between the arguments must stay as it was.

What fails is written to FOLDER as a module without arguments, which gq-run runs,
and at the end made smaller while it fails, as long as --seconds allow; `--replay`
says whether it still fails. Of failures that are alike the first one is kept. The
last line counts. Needs what the Python tests need ($PYTHONPATH, $GQ_LIBRARY).
"""

import argparse
import concurrent.futures
import copy
import ctypes
import dataclasses
import functools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import cases
import configurations
import numpy as np

# Problems a module is called with.
PROBLEMS = 20
# What one shrinking may cost.
ATTEMPTS = 400


class InProcess:
    """Runs modules on the CPU of this process.

    Attributes:
      error: what a call raises that fails.
      lost: whether nothing can be run any more.
    """

    TARGET = "cpu"
    lost = False

    def __init__(self):
        import gq

        @functools.lru_cache(maxsize=256)
        def compiled(text, fusion):
            return gq.compile(text, target=self.TARGET, fusion=fusion, cache_dir="")

        self._compiled, self.error = compiled, gq.Error

    def run(self, text, problem):
        """The results of @main; raises self.error."""
        results = self._compiled(text, problem.fusion)(*problem.arrays())
        return results if isinstance(results, tuple) else (results,)

    def failures(self, problems, static):
        """For each problem None or a message; all have the text of the first."""
        return [failure(self, p, p.function(static)) for p in problems]


class OnGpu(InProcess):
    """Runs modules on a GPU, in this process."""

    TARGET = "cuda"
    GAP = 256  # bytes around each argument, more or less

    def __init__(self):
        super().__init__()
        from gq import _arrays
        from gq._library import check, lib

        for name in "gqCopyToDevice", "gqCopyToHost":
            function = getattr(lib, name)
            function.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t
        self._lib, self._check, self._arrays = lib, check, _arrays
        self._stream = ctypes.c_void_p()
        lib.gqStreamCreate.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
        check(lib.gqStreamCreate(ctypes.byref(self._stream)))
        lib.gqSetStream(self._stream)

    def run(self, text, problem):
        executable = self._compiled(text, problem.fusion)
        try:
            return self._run(executable, problem)
        except self.error as e:
            # A fault of a kernel is that of all calls after it.
            self.lost = e.status == "CUDA_ERROR"
            raise

    def _run(self, executable, problem):
        check, lib = self._check, self._lib
        places, before = self._laid_out(problem)
        memory = self._arrays.allocate(before.shape, "i8", (self._arrays.CUDA, 0))
        check(lib.gqCopyToDevice(memory._pointer, before.ctypes.data, before.size))
        arguments = [
            self._arrays.Array(
                a.array.shape, a.element, memory.device, memory._pointer + place.start, memory
            )
            for a, place in zip(problem.arguments, places)
        ]  # fmt: skip
        results = executable(*arguments, stream=self._stream.value)
        results = results if isinstance(results, tuple) else (results,)
        check(lib.gqStreamStatus(self._stream))
        after, stored = np.empty_like(before), []
        check(lib.gqCopyToHost(after.ctypes.data, memory._pointer, after.size))
        for r in results:
            result = np.empty(r.shape, self._arrays.NumPy.dtype(r.dtype))
            stored.append(result)
            if r in arguments:
                place = places[arguments.index(r)]
                result.reshape(-1).view(np.uint8)[:] = after[place]
                after[place] = before[place]
            else:
                check(lib.gqCopyToHost(result.ctypes.data, r._pointer, result.nbytes))
        changed = np.flatnonzero(after != before)
        if changed.size:
            names = [a.name for a, p in zip(problem.arguments, places) if p.start <= changed[0]]
            raise self.error("WRITTEN", f"{changed.size} bytes, the first at or after {names[-1:]}")
        return stored

    def _laid_out(self, problem):
        """(where each argument is in one allocation, its bytes)"""
        places, end = [], 0
        for i, a in enumerate(problem.arguments):
            at = end + self.GAP + (a.array.itemsize * (2 * i + 1) if problem.odd else 0)
            places.append(slice(at, at + a.array.nbytes))
            end = -(-places[-1].stop // self.GAP) * self.GAP
        before = np.full(end + self.GAP, cases.POISON, np.uint8)
        for place, array in zip(places, problem.arrays()):
            before[place] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return places, before


class GqRun:
    """Runs modules in processes of gq-run."""

    class error(Exception):
        pass

    lost = False

    def __init__(self, path, target):
        self._path, self.TARGET = path, target

    def _call(self, text, arrays, fusion):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "module.mlir").write_text(text)
            command = [self._path, folder / "module.mlir", f"--target={self.TARGET}"]
            command += [] if fusion else ["--no-fusion"]
            for i, array in enumerate(arrays):
                np.save(folder / f"in{i}.npy", array)
                command += ["--in", folder / f"in{i}.npy"]
            command += ["--out", folder / "out"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise self.error(done.stderr.strip() or f"exit status {done.returncode}")
            files = sorted((folder / "out").glob("*.npy"), key=lambda f: int(f.stem))
            return [np.load(f) for f in files]

    def run(self, text, problem):
        return self._call(text, problem.arrays(), problem.fusion)

    def failures(self, problems, static):
        """One module calls the function for each problem."""
        first = problems[0]
        types, outputs = first.types(static), first.outputs
        function = first.function(static, "one").replace("func.func", "func.func private", 1)
        declared, body, returned = [], "", []
        for i, problem in enumerate(problems):
            declared += [(f"%{n}_{i}", types[n]) for n in types]
            names = [f"%out{i}_{j}" for j in range(len(outputs))]
            body += f"""
            {", ".join(names)} = call @one({", ".join(f"%{n}_{i}" for n in types)})
                : ({", ".join(types.values())}) -> ({", ".join(types[n] for n in outputs)})"""
            returned += [(name, types[n]) for name, n in zip(names, outputs)]
        values, of = (", ".join(column) for column in zip(*returned))
        text = f"""{function}
          func.func @main({", ".join(f"{n} : {t}" for n, t in declared)}) -> ({of}) {{{body}
            return {values} : {of}
          }}"""
        arrays = [x for problem in problems for x in problem.arrays()]
        try:
            results = self._call(text, arrays, first.fusion)
        except self.error as e:
            return [str(e)] * len(problems)
        count = len(outputs)
        parts = [results[count * i : count * (i + 1)] for i in range(len(problems))]
        return [wrong(p, part) for p, part in zip(problems, parts)]


def wrong(problem, results):
    """None, or what is wrong with the results."""
    of = {a.name: a.array.dtype for a in problem.arguments}
    try:
        problem.check([r.view(of[n]) for n, r in zip(problem.outputs, results, strict=True)])
    except AssertionError as e:
        return str(e).strip() or "AssertionError"
    return None


def failure(runner, problem, text):
    """Runs a problem by itself: None or what fails."""
    inputs = [a.array for a in problem.arguments if a.name not in problem.outputs]
    before = [x.tobytes() for x in inputs]
    try:
        results = runner.run(text, problem)
    except runner.error as e:
        return str(e)
    if any(x.tobytes() != y for x, y in zip(inputs, before)):
        return "an input was written to"
    return wrong(problem, results)


#===----------------------------------------------------------------------===#
# Shrinking
#===----------------------------------------------------------------------===#


def simpler(value, options):
    """Values that are simpler than `value`, the simplest first."""
    if options is not None:
        simple = list(dict.fromkeys(options))
        yield from simple[: simple.index(value)] if value in simple else []
    elif isinstance(value, bool):
        yield from [False] if value else []
    elif isinstance(value, int):
        yield from dict.fromkeys(v for v in (0, 1, value // 2, value - 1) if 0 <= v < value)
    elif isinstance(value, list):
        size = len(value)
        for part in (size // 2, size // 4, 1):
            for start in range(0, size, part) if part else ():
                yield value[:start] + value[start + part :]
        for i, (item, after) in enumerate(zip(value, value[1:])):
            if isinstance(item, list):  # Two groups become one of all their rows.
                yield [*value[:i], [item[0] + after[0], *item[1:]], *value[i + 2 :]]
        for i, item in enumerate(value):
            for new in simpler(item, None):
                yield [*value[:i], new, *value[i + 1 :]]


def candidates(c):
    options = configurations.OPS[c["op"]].OPTIONS
    for name, value in c.items():
        if name in ("op", "seed", "gpu"):
            continue
        for new in simpler(value, options.get(name)):
            changed = {**copy.deepcopy(c), name: new}
            configurations.OPS[c["op"]].repair(changed)
            if changed != c:
                yield changed


def fails(runner, c):
    """None or how a configuration fails. One that makes no problem does not."""
    try:
        problem = configurations.build(c)
        text = problem.function(c["static"])
    except Exception:
        return None
    return failure(runner, problem, text)


def kind(message):
    """Errors are told from wrong results, and from each other by their first words."""
    return re.sub(r"[\d<>?x-]+", "0", message.split("\n")[0])[:60]


def size_of(c):
    return len(json.dumps(c)), sum(a.array.size for a in configurations.build(c).arguments)


def shrink(runner, c, message, end=math.inf):
    """The smallest configuration found until `end` that fails alike, and how."""
    attempts, found = 0, True
    while found and attempts < ATTEMPTS:
        found = False
        for candidate in candidates(c):
            if attempts == ATTEMPTS or time.monotonic() > end or runner.lost:
                break
            attempts += 1
            said = fails(runner, candidate)
            if said is not None and kind(said) == kind(message):
                c, message, found = candidate, said, True
                break
    return c, message


def reproducer(c, message):
    """A module without arguments that computes what is wrong."""
    problem = configurations.build(c)
    constants, passed = [], {}
    for a in problem.arguments:
        constants.append(a.constant())
    types = problem.types(static=True)
    calls, results = [], [f"%result{i}" for i in range(len(problem.outputs))]
    for a in problem.arguments:
        value, type = f"%{a.name}", types[a.name]
        tensor = a.constant().rsplit(" : ", 1)[1]
        if a.memref:
            calls.append(f"{value}_m = bufferization.to_buffer {value} : {tensor} to {type}")
            value += "_m"
        elif tensor != type:
            return None
        passed[value] = type
    out = ", ".join(types[n] for n in problem.outputs)
    calls.append(
        f"{', '.join(results)} = call @one({', '.join(passed)})"
        f" : ({', '.join(passed.values())}) -> ({out})"
    )
    returned = []
    for result, name in zip(results, problem.outputs):
        if types[name].startswith("memref"):
            tensor = types[name].replace("memref", "tensor", 1)
            calls.append(
                f"{result}_t = bufferization.to_tensor {result} restrict : {types[name]} to {tensor}"
            )
            returned.append((f"{result}_t", tensor))
        else:
            returned.append((result, types[name]))
    values, of = (", ".join(column) for column in zip(*returned))
    lines = "\n            ".join(constants + calls)
    function = problem.function(True, "one").replace("func.func", "func.func private", 1)
    said = "\n".join(f"//   {line}" for line in message.split("\n"))
    text = f"""// This module fails:
{said}
// Found by differential.py; `differential.py --replay` of this file tries it again.
// configuration: {json.dumps(c)}
{function}
          func.func @main() -> ({of}) {{
            {lines}
            return {values} : {of}
          }}
"""
    return re.sub(r"\n\s*(?=\n)", "", text)


def write_failure(path, c, message):
    """Returns what to print."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # f4 tensors have no constants: the packed form, where that fails alike.
    text = reproducer(c, message)
    if text is None:
        text = reproducer({**c, "packed": True}, message)
    path.write_text(text)
    return f"FAIL {path}: {message.splitlines()[0]}\n  {json.dumps(c)}"


def replay(runner, path):
    """None, or how the module of a file and its configuration fail."""
    text = path.read_text()
    c = json.loads(re.search(r"^// configuration: (.*)$", text, re.M)[1])
    problem = configurations.build(c)
    try:
        results = runner.run(text, dataclasses.replace(problem, arguments=[]))
    except runner.error as e:
        return str(e)
    return wrong(problem, results) or fails(runner, c)


#===----------------------------------------------------------------------===#
# The test
#===----------------------------------------------------------------------===#


def draw(seed, number, ops, gpu=False):
    """The configurations of a module: those that share a text, or one whose
    extents are static."""
    rng = np.random.default_rng([seed, number])
    module = configurations.draw_module(rng, ops, gpu)
    count = 1 if module["static"] else PROBLEMS
    return [configurations.draw_problem(rng, module) for _ in range(count)]


def batch(runner, seed, number, ops):
    """(configurations that were tried, those that fail and how)."""
    drawn = draw(seed, number, ops, runner.TARGET == "cuda")
    problems = [configurations.build(c) for c in drawn]
    said = runner.failures(problems, drawn[0]["static"])
    return len(drawn), [(c, s) for c, s in zip(drawn, said) if s is not None]


def test(runner, count, seed, ops, folder, jobs=1, limit=5, seconds=math.inf, progress=False):
    """Tries `count` configurations or more, as long as time allows; returns
    (tried, lines of failures). `limit` is how many kinds of failures end it."""
    tried, found, number = 0, {}, 0
    start = time.monotonic()
    end = start + seconds
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while tried < count and len(found) < limit and time.monotonic() < end and not runner.lost:
            run = functools.partial(batch, runner, seed, ops=ops)
            wave = range(number, number + 4 * jobs) if jobs > 1 else range(number, number + 1)
            for done, failed in pool.map(run, wave) if jobs > 1 else map(run, wave):
                tried += done
                # Problems of one module fail for one reason.
                for c, message in failed[:1]:
                    alike = c["op"], kind(message)
                    if alike not in found:
                        path = folder / f"failure-{len(found)}.mlir"
                        print(write_failure(path, c, message), flush=True)
                        found[alike] = path, c, message
            number = wave.stop
            if progress and number % 200 < len(wave):
                print(f"{tried} in {time.monotonic() - start:.0f} s", flush=True)
    lines = []
    for path, c, message in found.values():
        lines.append(write_failure(path, *shrink(runner, c, message, end)))
        print(f"made smaller: {lines[-1]}", flush=True)
    return tried, lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--limit", type=int, default=5, help="kinds of failures that end it")
    parser.add_argument("--ops", default=",".join(configurations.OPS))
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--gq-run", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("differential"))
    parser.add_argument("--replay", type=pathlib.Path)
    a = parser.parse_args()
    if a.gq_run:
        runner = GqRun(a.gq_run.absolute(), a.target)
    else:
        runner = OnGpu() if a.target == "cuda" else InProcess()
    if a.replay:
        said = replay(runner, a.replay)
        print(said or "does not fail")
        return int(said is not None)
    print(f"seed {a.seed}, target {a.target}", flush=True)
    jobs = (os.cpu_count() or 1) if a.gq_run else 1
    start = time.time()
    tried, lines = test(
        runner, a.count, a.seed, a.ops.split(","), a.out, jobs, a.limit, a.seconds, progress=True
    )
    print(f"{tried} configurations in {time.time() - start:.0f} s, {len(lines)} failures")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
