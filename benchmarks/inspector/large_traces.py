"""The inspector on large IR: the time of each request on generated traces.

A function is many nests of four lines; a pass changes some of them, all over the text. Figures are
for the second request where the page makes two (all texts are printed then), and say so.
"""

import random
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from irkit.graph import GRAPH_LEVEL, Builder
from irkit.inspector_web import (
    Blame,
    Ids,
    LineTable,
    Steps,
    Texts,
    diff_lines,
    graph_view,
    pickaxe,
    side_by_side,
)
from irkit.inspector_web.api.overview import run_info
from irkit.inspector_web.record.restore import load_trace
from irkit.inspector_web.runs.run import LoadedTrace, Run
from irkit.inspector_web.runs.steps import Filter
from irkit.inspector_web.text.highlight import Highlighter
from irkit.inspector_web.views.search import search
from irkit.ir import LOOP_LEVEL, PrimFunc, Seq, Stmt, parse
from irkit.transform import Step, Trace


def large_function(lines: int) -> PrimFunc:
    """Return a function of about so many lines."""
    nests = [
        f"    for i in serial(0, {8 + at % 5}):\n"
        f"        for j in vectorized(0, {4 + at % 3}):\n"
        f"            B[i, j] = A[i, j] * f32({at % 97}.0) + A[j, i]\n"
        f"            C[i, {at % 61}] = B[i, {at % 7}]\n"
        for at in range(lines // 4)
    ]
    return parse("def f(A: f32[64, 64], B: f32[64, 64], C: f32[64, 64]):\n" + "".join(nests))


def changed_at(func: PrimFunc, places: list[int]) -> PrimFunc:
    """Return a function with some nests doubled or replaced by others, far apart in its text."""
    assert isinstance(func.body, Seq)
    stmts: list[Stmt] = list(func.body.stmts)
    for at in places:
        stmts[at % len(stmts)] = stmts[(at * 7 + 1) % len(stmts)]
    return func.replace(body=Seq(tuple(stmts)))


def large_trace(passes: int, lines: int, edits: int, changing: int | None = None) -> Trace:
    """Return a trace in which ``changing`` of the passes (all if None) change so many places."""
    rng = random.Random(7)
    funcs = [large_function(lines)]
    for at in range(passes):
        change = changing is None or at % (passes // changing) == 0
        places = [rng.randrange(lines // 4) for _ in range(edits)]
        funcs.append(changed_at(funcs[-1], places) if change else funcs[-1])
    return Trace(
        Step(at, LOOP_LEVEL, at % 4, "phase", f"pass-{at}", f"pass-{at}", {}, "f", *both, 1e-3)
        for at, both in enumerate(pairwise(funcs))
    )


def opening() -> None:
    """Time what the first view of a trace file takes. Units: seconds of the processor."""
    for passes, lines in ((20, 5_000), (1, 100_000)):
        with TemporaryDirectory() as folder:
            file = str(Path(folder) / "large.trace")
            large_trace(passes, lines, 20).save(file)
            began = time.process_time()
            run = Run(LoadedTrace(load_trace(file), "large"), 0, LineTable())
            run_info(run)
            ready = time.process_time()
            run.steps.diff(0)
            shown = time.process_time()
        print(
            f"{passes} passes x {lines} lines: the list {ready - began:.2f} s, the first ", end=""
        )
        print(f"difference {shown - ready:.2f} s more (aim: 1 and 0.3)")


def timed(what: str, limit: float, run: Callable[[], object]) -> None:
    """Time a request once and print it with its limit. Units: milliseconds."""
    started = time.perf_counter()
    run()
    spent = (time.perf_counter() - started) * 1e3
    print(f"{'ok  ' if spent <= limit else 'OVER'} {what}: {spent:.1f} ms (at most {limit:g})")


def edited(lines: int, edits: int) -> tuple[Ids, Ids, LineTable]:
    """Return two texts of repetitive IR, one of them edited all over."""
    rng = random.Random(1)
    table = LineTable()
    before = table.number(large_function(lines).script().splitlines())
    after: list[int] = before.tolist()
    for _ in range(edits):
        at = rng.randrange(len(after))
        new = rng.choice([*table.number([f"    x{at} = 1"]).tolist(), rng.choice(after)])
        after[at : at + rng.randrange(2)] = [new]
    return before, np.array(after, dtype=np.int32), table


def differences() -> None:
    """Time differences and their rows."""
    for lines, edits, limit in ((10_000, 500, 150), (50_000, 2_500, 1_000)):
        before, after, table = edited(lines, edits)
        timed(
            f"difference of {lines} lines, {edits} edits",
            limit,
            lambda b=before, a=after: diff_lines(b, a),
        )
        timed(
            "  with its rows and words",
            limit,
            lambda b=before, a=after, t=table: side_by_side(diff_lines(b, a), t, context=None),
        )


def steps() -> None:
    """Time the requests on traces with many passes."""
    trace = large_trace(500, 400, 3)
    timed("rows of 500 passes", 100, lambda: Steps(Texts(trace)).rows())
    long = large_trace(200, 10_000, 5)
    texts = Texts(long)
    timed("rows of 200 passes x 10,000 lines", 1_000, lambda: Steps(texts).rows())
    timed(
        "  the last step printed, before and after",
        1_000,
        lambda: (texts.of(199, "before"), texts.of(199)),
    )
    timed("  all printed", 60_000, lambda: search(texts, "nothing"))
    timed("  search", 300, lambda: search(texts, "96.0"))
    timed("  search by regular expression", 300, lambda: search(texts, r"f32\(9.\.0\)", regex=True))
    timed("  pickaxe", 200, lambda: pickaxe(texts, "96.0"))
    timed("  blame", 200, lambda: Blame(texts).of(long[199].after))
    rows = Steps(texts)
    timed("  filter by touched text, first time", 1_000, lambda: rows.rows(Filter(touches="96.0")))
    timed("  filter by touched text", 50, lambda: rows.rows(Filter(touches="95.0")))


def colours() -> None:
    """Time colouring and printing."""
    func = large_function(10_000)
    table = LineTable()
    ids = table.number(func.script().splitlines())
    timed("10,000 lines coloured", 80, lambda: Highlighter(table).lines(ids))
    for lines, limit in ((100_000, 1_000), (1_000_000, 15_000)):
        big = large_trace(1, lines, 20)
        texts = Texts(big)
        timed(f"{lines} lines printed", limit, lambda t=texts: t.of(0))
        timed("  and compared with those before", limit, lambda t=texts: Steps(t).diff(0))


def graphs() -> None:
    """Time the layout of a graph of 3,000 operators, the second time."""
    b = Builder()
    heads = [b.op("relu", b.param("x", (4, 4)))] * 4
    for at in range(750):
        heads = [b.op("relu" if at % 2 else "exp", head) for head in heads]
    func = b.finish(heads[0])
    step = Step(0, GRAPH_LEVEL, 0, "", "p", "p", {}, "f", func, func, 0.0)
    part = Texts(Trace([step])).of(0).parts[0][1]
    for what, most in (("collapsed", 500), ("whole", 10_000)):
        graph_view(part, most=most)
        timed(f"3,000 operators laid out, {what}", 50, lambda m=most: graph_view(part, most=m))


def main() -> None:
    """Print the figures."""
    opening()
    differences()
    steps()
    colours()
    graphs()


if __name__ == "__main__":
    main()
