# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq.distributed on several processes, against one.

torch_distributed.py [cpu | cuda [TEST...]]: 4 processes of gloo on the CPU, or of NCCL,
one for each GPU. Needs torch and gq; without torch it exits with 77. A test that takes
longer than PATIENCE fails.
"""

import contextlib
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

try:
    import torch
except ImportError:
    print("skipped: no torch")
    sys.exit(77)

import gq
import gq.distributed as gd
import gq.torch
import torch.distributed as dist
from torch_tests import CUDA, WHERE, main, raises, test

SIZE = torch.cuda.device_count() if CUDA else 4
# In seconds: the time-outs of a process group, and of one whose ranks fail; for an
# answer. A machine under load takes longer to start.
TIMEOUT, SHORT, PATIENCE = (60, 10, 400) if CUDA else (60, 20, 240)
#: The answer of a process that ended without one.
ENDED = "the process ended"
EXPERTS = SIZE * max(2, 8 // SIZE)


# ---------------------------------------------------------------------------
# Processes
# ---------------------------------------------------------------------------


def _enter(rank, store, timeout, pipe):
    torch.set_num_threads(1)
    if CUDA:
        torch.cuda.set_device(rank)
    try:
        dist.init_process_group(
            "nccl" if CUDA else "gloo", init_method=f"file://{store}", rank=rank,
            world_size=SIZE, timeout=datetime.timedelta(seconds=timeout),
        )  # fmt: skip
        while True:
            pipe.send(pipe.recv()(rank))
    except EOFError:
        pass
    except Exception:  # noqa: BLE001
        pipe.send(traceback.format_exc(-3))
    # What is left of a process group with a dead peer is not waited for.
    pipe.close()
    os._exit(0)


class Ranks:
    """A process for each rank, which run one function after the other."""

    def __init__(self, timeout):
        context = torch.multiprocessing.get_context("spawn" if CUDA else "fork")
        self._folder, self._processes = tempfile.TemporaryDirectory(), []
        store = os.path.join(self._folder.name, "store")
        for rank in range(SIZE):
            mine, theirs = context.Pipe()
            p = context.Process(
                target=_enter, args=(rank, store, timeout, theirs), daemon=True
            )
            p.start()
            theirs.close()
            self._processes.append((p, mine))

    def begin(self, function):
        for _, pipe in self._processes:
            with contextlib.suppress(BrokenPipeError):
                pipe.send(function)
        return self

    def found(self, count):
        """What the function returned for so many ranks. A text is a failure."""
        end, found = time.monotonic() + PATIENCE, []
        for _, pipe in self._processes[:count]:
            try:
                late = not pipe.poll(max(0, end - time.monotonic()))
                found.append("no answer" if late else pipe.recv())
            except (EOFError, ConnectionResetError):
                found.append(ENDED)
        return found

    def kill(self):
        for p, _ in self._processes:
            p.kill()
            p.join()
        self._folder.cleanup()


def each(*functions, timeout=SHORT, count=SIZE):
    """What each function returns for so many ranks, at the same time, in processes of
    their own, which may end."""
    ranks = [Ranks(timeout).begin(function) for function in functions]
    found = [of.found(count) for of in ranks]
    for of in ranks:
        of.kill()
    return found


#: The processes of tests in which none fails.
_ranks = None


def all_pass(function):
    global _ranks
    _ranks = _ranks or Ranks(TIMEOUT)
    found = _ranks.begin(function).found(SIZE)
    failures = [f"rank {r}: {f}" for r, f in enumerate(found) if f is not None]
    if failures:
        _ranks.kill()
        _ranks = None
    assert not failures, "\n".join(failures)


# ---------------------------------------------------------------------------
# Layers
# ---------------------------------------------------------------------------


def same(found, expected):
    """Whether the bytes are the same. On a GPU the kernel of a matmul, and with it the
    order of sums, depends on how many rows there are: then a few of the codes of the next
    one differ."""
    if not CUDA:
        return torch.equal(found, expected)
    found, expected = found.double(), expected.double()
    return found.shape == expected.shape and (
        (found - expected).norm() <= 0.05 * expected.norm()
    )


def weights(i=64, k=128, experts=EXPERTS):
    torch.manual_seed(1)
    up = torch.randn(experts, 2 * i, k).bfloat16() * k**-0.5
    down = torch.randn(experts, k, i).bfloat16() * i**-0.5
    return up.to(WHERE), down.to(WHERE)


def own_experts(up, down, **options):
    """The layer of this rank's experts."""
    own = gd.local_experts(EXPERTS)
    return gq.torch.QuantizedExperts(up[own], down[own], **options)


def tokens(chosen, count=60, k=128, experts=EXPERTS):
    """Tokens of all ranks, their experts and weights. Some experts get nothing, and some
    choices are of no expert."""
    torch.manual_seed(0)
    x = torch.randn(count, k).bfloat16()
    rank = torch.rand(count, experts)
    rank[:, experts // 2] = -1
    index = rank.argsort(1, descending=True)[:, :chosen]
    index[torch.rand(count, chosen) < 0.05] = experts + 3
    return x.to(WHERE), index.to(WHERE), torch.rand(count, chosen).to(WHERE)


def mine(rank, count=60):
    """The tokens of a rank: few, of more than two ranks the second has none, most."""
    parts = [1, 0, *[3] * (SIZE - 2)] if SIZE > 2 else [1, 2][:SIZE]
    ends = [0]
    for p in parts:
        ends.append(ends[-1] + count * p // sum(parts))
    ends[-1] = count
    return slice(ends[rank], ends[rank + 1])


def _same_bytes(rank):
    up, down = weights()
    cut = mine(rank)
    cases = [
        ("nvfp4", None, 3, {}), ("nvfp4", None, 1, {}), ("nvfp4", "te", 3, {}),
        ("nvfp4", "te", 2, {"weighs_inputs": True}), ("mxfp8_e4m3", None, 2, {}),
        ("mxfp4", None, 1, {"weighs_inputs": True}),
    ]  # fmt: skip
    for format, recipe, chosen, options in cases:
        x, index, w = tokens(chosen)
        options = {"format": format, "recipe": recipe, **options}
        expected = gq.torch.QuantizedExperts(up, down, **options)(x, index, w)[cut]
        assert expected.abs().sum() > 0 or len(expected) == 0
        experts = own_experts(up, down, **options)
        for how in {}, {"chunks": 3}, {"capacity": 180}, {"capacity": 180, "chunks": 2}:
            layer = gd.ExpertParallel(experts, **how)
            y = layer(x[cut], index[cut], w[cut])
            assert y.dtype == x.dtype and same(y, expected), (options, how)
            assert layer.dropped.item() == 0
            layer.check()


@test
def same_bytes():
    """The bytes of one process: uneven and empty routings, top-1 and top-k, chunks."""
    all_pass(_same_bytes)


def _no_tokens(rank):
    up, down = weights()
    layer = gd.ExpertParallel(own_experts(up, down), chunks=2)
    x, index, w = (t[:0] for t in tokens(2))
    assert layer(x, index, w).shape == x.shape
    # One token for one expert, all others nothing.
    x, index, w = tokens(1)
    index[0] = EXPERTS - 1
    n = 1 if rank == 0 else 0
    y = layer(x[:n], index[:n], w[:n])
    expected = gq.torch.QuantizedExperts(up, down)(x[:2], index[:2], w[:2])
    assert same(y, expected[:n])


@test
def no_tokens():
    """No rank has a token, then one rank has one."""
    all_pass(_no_tokens)


def _wire(rank):
    """What is sent, counted where it is."""
    x, index, _ = tokens(3)
    cut, sent = mine(rank), []
    routing = gd.route(index[cut], EXPERTS)
    real = dist.all_to_all_single

    def counting(result, given, *arguments, **options):
        sent.append(given.numel() * given.element_size())
        return real(result, given, *arguments, **options)

    dist.all_to_all_single = counting
    gd.dispatch(x[cut], routing, "nvfp4")
    gd.dispatch_rows(x[cut], routing)
    dist.all_to_all_single = real
    rows = (index[cut] < EXPERTS).sum().item()
    width = gq.layout.up(128 * 9 // 16, 16)
    assert sent == [rows * width, rows * 128 * 2], sent


@test
def bytes_on_the_wire():
    """0.5625 bytes an element of nvfp4 in one message, rows of a multiple of 16 bytes; 2
    of bf16."""
    all_pass(_wire)


# ---------------------------------------------------------------------------
# Gradients
# ---------------------------------------------------------------------------


def gradients(x, index, w, up, down, group, wire, capacity=None):
    """Of a quantized layer that is trained, on the ranks of the group."""
    x, w, up, down = (t.clone().requires_grad_() for t in (x, w, up, down))
    routing = gd.route(index, EXPERTS, group, capacity=capacity)
    rows = gd.dispatch_rows(x, routing, wire)
    h = gq.torch.grouped_linear(rows, up, routing.offsets, "mxfp8_e4m3")
    gate, value = h.chunk(2, 1)
    h = (torch.nn.functional.silu(gate) * value).contiguous()
    y = gd.combine(
        gq.torch.grouped_linear(h, down, routing.offsets, "mxfp8_e4m3"), routing, w
    )
    # A gradient that is the same for a token whatever the others are.
    (y * torch.sin(torch.arange(y.shape[1], device=y.device))).sum().backward()
    return y, x.grad, w.grad, up.grad, down.grad


def _gradients(rank):
    alone = [dist.new_group([r]) for r in range(SIZE)][rank]
    own, cut = gd.local_experts(EXPERTS), mine(rank)
    up, down = weights()
    for chosen, wire in (3, "mxfp8_e4m3"), (1, None), (2, "nvfp4"):
        x, index, w = tokens(chosen)
        expected = gradients(x, index, w, up, down, alone, wire)
        cuts = cut, cut, cut, own, own
        for capacity in None, 180:
            found = gradients(
                x[cut], index[cut], w[cut], up[own], down[own], None, wire, capacity
            )
            for name, f, e, c in zip(
                ("y", "x", "w", "up", "down"), found, expected, cuts
            ):
                assert same(f, e[c]), (chosen, wire, capacity, name)
                assert e.abs().sum() > 0, name


@test
def gradients_of_one_process():
    """y and the gradients of tokens, routers' weights and experts, to the byte."""
    all_pass(_gradients)


def _against_float64(rank):
    """Experts that scale and shift, whose layer torch differentiates without gq."""
    cut, own, k = mine(rank), gd.local_experts(EXPERTS), 32
    for chosen in 1, 3:
        x, index, w = tokens(chosen, k=k)
        x = x.float()
        torch.manual_seed(2)
        scale = torch.randn(EXPERTS + 1, k, device=WHERE)
        scale[EXPERTS] = 0
        inputs = [t.double().requires_grad_() for t in (x, w, scale)]
        of_all = (
            inputs[0][:, None] * inputs[2][index.clamp(max=EXPERTS)]
        ).tanh() * inputs[1][..., None]
        of_all.sum(1).square().sum().backward()

        a, b, c = (t.clone().requires_grad_() for t in (x[cut], w[cut], scale[own]))
        routing = gd.route(index[cut], EXPERTS)
        rows = gd.dispatch_rows(a, routing)
        of_row = torch.repeat_interleave(routing.offsets.diff(), output_size=len(rows))
        y = gd.combine((rows * c[of_row]).tanh(), routing, b)
        y.square().sum().backward()
        exact = of_all.sum(1)[cut], *(t.grad for t in inputs)
        for f, e, part in zip(
            (y, a.grad, b.grad, c.grad), exact, (slice(None), cut, cut, own)
        ):
            torch.testing.assert_close(f.double(), e[part], rtol=1e-4, atol=1e-5)


@test
def gradients_against_float64():
    all_pass(_against_float64)


# ---------------------------------------------------------------------------
# Capacity
# ---------------------------------------------------------------------------


def kept(index, capacity):
    """Which choices find a place, one by one."""
    each, count = EXPERTS // SIZE, [0] * SIZE
    result = torch.zeros(index.shape, dtype=torch.bool)
    for t, experts in enumerate(index.tolist()):
        for j, e in enumerate(experts):
            if e < EXPERTS:
                result[t, j] = count[e // each] < capacity
                count[e // each] += 1
    return result.to(WHERE)


def _dropped(rank):
    up, down = weights()
    cut = mine(rank)
    x, index, w = tokens(3)
    experts = own_experts(up, down)
    for capacity in 1, 4:
        layer = gd.ExpertParallel(experts, capacity=capacity)
        y = layer(x[cut], index[cut], w[cut])
        stays = kept(index[cut], capacity)
        less = index.clone()
        less[cut][~stays] = EXPERTS
        expected = gq.torch.QuantizedExperts(up, down)(x, less, w)[cut]
        assert same(y, expected), capacity
        lost = ((index[cut] < EXPERTS) & ~stays).sum()
        assert layer.dropped == lost and (lost > 0 or rank == 1), (lost, capacity)
        # Nothing comes back to the weights of what was dropped, not even NaN.
        a, b = x[cut].clone().requires_grad_(), w[cut].clone()
        b[~stays] = float("nan")
        b.requires_grad_()
        routing = gd.route(index[cut], EXPERTS, capacity=capacity)
        y = gd.combine(gd.dispatch_rows(a, routing), routing, b)
        y.sum().backward()
        assert y.isfinite().all() and (b.grad[~stays] == 0).all()
        scales = torch.where(stays, b.detach().bfloat16().float(), 0).sum(1)
        torch.testing.assert_close(
            a.grad.float(), scales[:, None].expand(a.shape), rtol=0.02, atol=0.02
        )


@test
def dropped():
    """The last choices for a rank find no place, and are counted."""
    all_pass(_dropped)


def _captured(rank):
    up, down = weights()
    experts = own_experts(up, down)
    layer = gd.ExpertParallel(experts, capacity=40, chunks=2)
    x, index, w = (t.clone() for t in tokens(2))
    layer(x, index, w)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    # NCCL has a thread of its own, which asks for events.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        y = layer(x, index, w)
    for turn in range(3):
        index.copy_(index.roll(turn + rank, 0))
        graph.replay()
        found, lost = y.clone(), layer.dropped.clone()
        again = gd.ExpertParallel(experts, capacity=40, chunks=2)
        assert torch.equal(found, again(x, index, w)) and lost == again.dropped
        layer.check()


if CUDA:

    @test
    def captured():
        """A CUDA graph of the form with a capacity, replayed with other routings."""
        all_pass(_captured)


# ---------------------------------------------------------------------------
# Failures
# ---------------------------------------------------------------------------


@contextlib.contextmanager
def sizes(change):
    """The sizes that are sent are other ones."""
    real = gd._all_to_all

    def lying(result, sent, group, what, *more):
        if what == "sizes":
            sent = sent.clone()
            change(sent)
        return real(result, sent, group, what, *more)

    gd._all_to_all = lying
    yield
    gd._all_to_all = real


LIES = [-1, -(2**63), 2**63 - 1, 2**62, 2**31, 10**6]


def _hostile(rank):
    x, index, _ = tokens(2)
    cut = mine(rank)
    # Of two of the last, only the sum is too large.
    for options, lies in (
        ({"max_rows": 1000}, [*LIES, 600]), ({"capacity": 180}, [*LIES, 100]),
    ):  # fmt: skip
        for lie in lies:

            def change(sent):
                if rank == SIZE - 1:
                    # Twice, whose sum in 64 bits may be small.
                    sent[...] = 0
                    sent[:, :, :2] = lie

            with sizes(change):
                raises(
                    gq.Error,
                    rf"INVALID_OFFSETS: rank {SIZE - 1}: expected",
                    lambda: gd.route(index[cut], EXPERTS, **options).check(),
                )
    # The group is whole after it.
    routing = gd.route(index[cut], EXPERTS)
    assert gd.dispatch(x[cut], routing).rows.data.shape[0] == routing.counts.sum()


@test
def hostile_sizes():
    """Sizes that no buffer has are refused on every rank, with the rank's name."""
    all_pass(_hostile)


def _unchecked(rank):
    """As on a GPU, where nothing waits for what is wrong with sizes."""
    x, index, _ = tokens(2)
    cut, liar = mine(rank), SIZE - 1
    capacity = 180
    honest = gd.route(index[cut], EXPERTS, capacity=capacity)
    expected = gd.dispatch_rows(x[cut], honest)
    real, gd.Routing.check = gd.Routing.check, lambda self: None
    for lie in LIES:

        def change(sent):
            if rank == liar:
                sent[...] = lie

        with sizes(change):
            routing = gd.route(index[cut], EXPERTS, capacity=capacity)
        offsets = routing.offsets.tolist()
        assert offsets == sorted(offsets) and 0 <= offsets[-1] <= SIZE * capacity
        order = routing._order.sort()[0]
        assert torch.equal(order, torch.arange(SIZE * capacity, device=WHERE))
        assert (routing.counts[liar] >= 0).all() and routing.counts[
            liar
        ].sum() <= capacity
        assert torch.equal(routing.counts[:liar], honest.counts[:liar])
        rows = gd.dispatch_rows(x[cut], routing)
        for e in range(EXPERTS // SIZE):
            # What is from the others is as it was, and comes first.
            n = honest.counts[:liar, e].sum()
            at, was = offsets[e], honest.offsets[e]
            assert torch.equal(rows[at : at + n], expected[was : was + n])
        assert routing.refused.tolist() == [False] * liar + [True]
        raises(gq.Error, f"rank {liar}", real, routing)
    gd.Routing.check = real


@test
def hostile_sizes_unchecked():
    all_pass(_unchecked)


def _longer(rank):
    """The last rank sends more rows to the first one than it said."""
    x, index, _ = tokens(2)
    routing = gd.route(index[mine(rank)], EXPERTS)
    splits = list(routing._sent)
    if rank == SIZE - 1:
        splits[0] += 50
    sent = torch.ones(sum(splits), 256, dtype=torch.uint8)
    received = torch.empty(sum(routing._received), 256, dtype=torch.uint8)
    gd._all_to_all(received, sent, None, "rows", routing._received, splits).wait()
    gd.agree()
    return "it went well"


if not CUDA:

    @test
    def more_rows_than_said():
        """gloo ends the process that would receive them, and so the others fail."""
        start = time.monotonic()
        [found] = each(_longer)
        assert time.monotonic() - start < 40 and found[0] == ENDED, found
        assert all("ExchangeError: rank" in text for text in found[1:]), found


def _dies(rank, how):
    up, down = weights()
    cut = mine(rank)
    x, index, w = tokens(2)
    layer = gd.ExpertParallel(own_experts(up, down))
    layer(x[cut], index[cut], w[cut])
    if rank == SIZE - 1:
        how()
    start = time.monotonic()
    try:
        for _ in range(3):
            layer(x[cut], index[cut], w[cut])
    except gd.ExchangeError as error:
        return time.monotonic() - start, str(error)
    return "no ExchangeError"


def _dies_at_once(rank):
    return _dies(rank, lambda: os._exit(3))


def _dies_later(rank):
    def how():
        real = gd._all_to_all

        def dying(result, sent, group, what, *more):
            if what == "rows":
                os._exit(3)
            return real(result, sent, group, what, *more)

        gd._all_to_all = dying

    return _dies(rank, how)


def _sleeps(rank):
    return _dies(rank, lambda: time.sleep(PATIENCE))


def check_others(found, seconds):
    for rank, answer in enumerate(found):
        assert isinstance(answer, tuple), answer
        assert answer[0] < seconds, answer
        expected = f"rank {rank} of {SIZE}: the exchange of"
        assert answer[1].startswith(expected), answer[1]


@contextlib.contextmanager
def waiting():
    """Processes of NCCL that start now wait for a collective where wait() is called."""
    os.environ["TORCH_NCCL_BLOCKING_WAIT"] = "1"
    yield
    del os.environ["TORCH_NCCL_BLOCKING_WAIT"]


@test
def a_rank_dies():
    """Before the exchange of sizes, and between it and that of rows."""
    with waiting():
        for found in each(_dies_at_once, _dies_later):
            assert found[-1] == ENDED
            check_others(found[:-1], 40)


@test
def a_rank_sleeps():
    """The timeout of the group ends the others, whom nobody else wakes."""
    with waiting():
        [others] = each(_sleeps, timeout=SHORT if CUDA else 5, count=SIZE - 1)
    check_others(others, 30)


if CUDA:

    @test
    def watchdog():
        """As torch is if nothing is set, its watchdog ends the processes that wait for a
        rank that died, if NCCL does not find out before."""
        [found] = each(_dies_at_once)
        assert found[-1] == ENDED
        if ENDED not in found[:-1]:
            check_others(found[:-1], 40)


def _differ(rank):
    up, down = weights()
    experts = own_experts(up, down)
    raises(
        gq.ArgumentError, "capacity: expected the same on all ranks", gd.ExpertParallel,
        experts, capacity=10 if rank else None,
    )  # fmt: skip
    raises(gq.ArgumentError, "facts: expected", gd.agree, **{"a" if rank else "b": 1})
    gd.agree(a=1, b="nvfp4", c=None)
    raises(gq.ArgumentError, "b: expected .* found 'x0'|b: .*", gd.agree, b=f"x{rank}")


@test
def layers_differ():
    all_pass(_differ)


@test
def arguments():
    """Refused before anything is exchanged; one process without a group."""
    x, index, w = tokens(2)
    routing = gd.route(index, EXPERTS)
    up, down = weights()
    experts = gq.torch.QuantizedExperts(up, down)
    wrong = gq.ArgumentError
    raises(wrong, "num_experts: expected", gd.route, index, 0)
    raises(wrong, "index: expected", gd.route, index[0], EXPERTS)
    raises(wrong, "index: expected", gd.route, index[:, :0], EXPERTS)
    for name in "capacity", "max_rows":
        for value in 0, -1, 2**31:
            raises(wrong, f"{name}: expected", gd.route, index, 4, **{name: value})
    raises(wrong, "x: expected", gd.dispatch, x[1:], routing)
    raises(wrong, "x: expected", gd.dispatch_rows, x[0], routing)
    raises(wrong, "format: expected", gd.dispatch, x, routing, "fp8_e4m3_128x128")
    raises(wrong, "format: expected", gd.dispatch_rows, x, routing, "fp4")
    raises(wrong, "values: expected", gd.dispatch, x, routing, values=w[:, :1])
    raises(wrong, "rows: expected", gd.combine, x, routing)
    rows = gd.dispatch_rows(x, routing)
    raises(wrong, "weights: expected", gd.combine, rows, routing, w[0])
    raises(wrong, "chunks: expected", gd.ExpertParallel, experts, chunks=0)
    raises(wrong, "facts: expected", gd.agree, **{f"a{i}": i for i in range(16)})


@test
def example():
    """examples/expert_parallel.py finds its own bytes right, and prints its table."""
    # Beside test/, or in a bundle beside this folder.
    folders = pathlib.Path(__file__).resolve().parents[1:3]
    programs = [f / "examples" / "expert_parallel.py" for f in folders]
    done = subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--standalone",
            f"--nproc-per-node={SIZE}", *[p for p in programs if p.exists()], "--small",
            "--tokens=40", "--repeat=1",
        ],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| DeepSeek-V3 | " in done.stdout.splitlines()[-1], done.stdout


if __name__ == "__main__":
    sys.exit(main())
