# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random configurations of every op, compiled and run, against the oracle.

    differential.py [--count N] [--seed S] [--ops grouped_mm,...] [--out FOLDER]
    differential.py --target cuda --gq-run PATH ...
    differential.py --replay FOLDER/failure-0.mlir

One process compiles a module of dynamic extents, calls it with several problems,
and goes on to the next; some problems get a module of their static extents. On
the target cuda gq-run does a module's problems in one call, several at once.
The oracle is NumPy, so every byte is compared with what neither target computed.

What fails is made smaller while it fails, and written to FOLDER as a module
without arguments, which gq-run runs; `--replay` says whether it still fails.
The last line counts. Needs what the Python tests need ($PYTHONPATH,
$GQ_LIBRARY); cuda needs gq-run alone.
"""

import argparse
import concurrent.futures
import copy
import dataclasses
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import configurations
import numpy as np

# Problems a module is called with.
PROBLEMS = 20
# What one shrinking may cost.
ATTEMPTS = 400


class InProcess:
    """Runs modules on the CPU of this process."""

    def __init__(self):
        import gq

        @functools.lru_cache(maxsize=256)
        def compiled(text, fusion):
            return gq.compile(text, fusion=fusion, cache_dir="")

        self._compiled, self.error = compiled, gq.Error

    def run(self, text, problem):
        """The results of @main; raises self.error."""
        results = self._compiled(text, problem.fusion)(*problem.arrays())
        return results if isinstance(results, tuple) else (results,)

    def failures(self, problems, static):
        """For each problem None or a message; all have the text of the first."""
        return [failure(self, p, p.function(static)) for p in problems]


class GqRun:
    """Runs modules in processes of gq-run."""

    class error(Exception):
        pass

    def __init__(self, path, target):
        self._path, self._target = path, target

    def _call(self, text, arrays, fusion):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "module.mlir").write_text(text)
            command = [self._path, folder / "module.mlir", f"--target={self._target}"]
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
        if name in ("op", "seed"):
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


def shrink(runner, c, message):
    """The smallest configuration found that fails alike, and how it does."""
    attempts, found = 0, True
    while found and attempts < ATTEMPTS:
        found = False
        for candidate in candidates(c):
            attempts += 1
            said = fails(runner, candidate)
            if said is not None and kind(said) == kind(message):
                c, message, found = candidate, said, True
                break
            if attempts == ATTEMPTS:
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


def write_failure(runner, folder, number, c, message):
    """Shrinks and writes; returns what to print."""
    small, said = shrink(runner, c, message)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"failure-{number}.mlir"
    # f4 tensors have no constants: the packed form, where that fails alike.
    text = reproducer(small, said)
    if text is None:
        text = reproducer({**small, "packed": True}, said)
    path.write_text(text)
    return f"FAIL {path}: {said.splitlines()[0]}\n  {json.dumps(small)}"


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


def draw(seed, number, ops):
    """The configurations of a module: those that share a text, or one whose
    extents are static."""
    rng = np.random.default_rng([seed, number])
    module = configurations.draw_module(rng, ops)
    static = bool(rng.random() < 0.3)
    count = 1 if static else PROBLEMS
    return [
        {**configurations.draw_problem(rng, module), "static": static} for _ in range(count)
    ]


def batch(runner, seed, number, ops):
    """(configurations that were tried, those that fail and how)."""
    drawn = draw(seed, number, ops)
    problems = [configurations.build(c) for c in drawn]
    said = runner.failures(problems, drawn[0]["static"])
    return len(drawn), [(c, s) for c, s in zip(drawn, said) if s is not None]


def test(runner, count, seed, ops, folder, jobs=1, limit=5, progress=False):
    """Tries `count` configurations or more; returns (tried, lines of failures)."""
    tried, lines, start, number = 0, [], time.time(), 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while tried < count and len(lines) < limit:
            run = functools.partial(batch, runner, seed, ops=ops)
            wave = range(number, number + 4 * jobs) if jobs > 1 else range(number, number + 1)
            for done, failed in pool.map(run, wave) if jobs > 1 else map(run, wave):
                tried += done
                # Problems of one module fail for one reason.
                for c, message in failed[:1]:
                    lines.append(write_failure(runner, folder, len(lines), c, message))
                    print(lines[-1], flush=True)
            number = wave.stop
            if progress and number % 200 < len(wave):
                print(f"{tried} in {time.time() - start:.0f} s", flush=True)
    return tried, lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--ops", default=",".join(configurations.OPS))
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--gq-run", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("differential"))
    parser.add_argument("--replay", type=pathlib.Path)
    a = parser.parse_args()
    runner = GqRun(a.gq_run.absolute(), a.target) if a.gq_run else InProcess()
    if a.replay:
        said = replay(runner, a.replay)
        print(said or "does not fail")
        return int(said is not None)
    print(f"seed {a.seed}, target {a.target}", flush=True)
    jobs = (os.cpu_count() or 1) if a.gq_run else 1
    start = time.time()
    tried, lines = test(runner, a.count, a.seed, a.ops.split(","), a.out, jobs, progress=True)
    print(f"{tried} configurations in {time.time() - start:.0f} s, {len(lines)} failures")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
