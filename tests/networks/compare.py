"""Compile exported networks and compare: ``python -m tests.networks.compare FOLDER [NAME...]``.

Prints a row of a table for each: operators, processor time to compile, and the largest error. An
error is max |a - b| relative to max |b|, of the output where it is largest; integers must be equal.
"""

import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import click
import ml_dtypes
import msgspec
import numpy as np
import onnx
from numpy.typing import NDArray

import irkit
from irkit.runtime import Model, num_threads, set_num_threads

Arrays = Mapping[str, NDArray[Any]]

LIMITS = {"float32": 1e-4, "float16": 2e-2, "bfloat16": 5e-2, "quantised": 1 / 127}
"""Largest error, by the narrowest type of inputs and outputs. Quantised to 8 bits, an output can be
one step off: where a sum lies between two steps, its last bit decides, in any layer."""

SECONDS = 60.0
"""Most processor time to compile a network."""


class Result(msgspec.Struct, frozen=True):
    """What came of a network; ``reason`` says why it failed, and is empty if it agrees."""

    opset: int
    operators: int
    kinds: int
    seconds: float
    error: float
    reason: str


def compare(path: Path) -> Result:
    """Compile a network that ``export`` wrote and run it on its inputs."""
    shell = onnx.load(path, load_external_data=False)
    names = Counter(node.op_type for node in shell.graph.node)
    opset = next(entry.version for entry in shell.opset_import if not entry.domain)
    feeds, expected = arrays(path)
    for info in shell.graph.input:
        feeds[info.name] = feeds[info.name].astype(_type(info))
    start = time.process_time()
    error, reason = 0.0, ""
    try:
        # The first call counts too: a model can be compiled in part for what it meets there.
        model = irkit.compile(str(path))
        got = model.run(feeds)
        seconds = time.process_time() - start
        error, reason = judge(got, expected, _limit(names, (*feeds.values(), *got.values())))
        reason = reason or _by_threads(model, feeds, got)
    except irkit.IRKitError as failed:
        seconds, reason = time.process_time() - start, " ".join(str(failed).split())
    if not reason and seconds > SECONDS:
        reason = f"compiling took more than {SECONDS:.0f} s"
    return Result(opset, names.total(), len(names), seconds, error, reason)


def _by_threads(model: Model, feeds: Arrays, wanted: Arrays) -> str:
    """Return which output has other bits on 1, 2 or 4 threads than it had; nothing if none has."""
    before = num_threads()
    try:
        for count in (1, 2, 4):
            set_num_threads(count)
            for name, array in model.run(feeds).items():
                if array.tobytes() != wanted[name].tobytes():
                    return f"output {name} has other bits on {count} threads"
    finally:
        set_num_threads(before)
    return ""


def _type(info: onnx.ValueInfoProto) -> np.dtype[Any]:
    return onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)


def _limit(operators: Iterable[str], arrays: Iterable[NDArray[Any]]) -> float:
    if any("QuantizeLinear" in name for name in operators):
        return LIMITS["quantised"]
    return max(LIMITS.get(array.dtype.name, 0.0) for array in arrays)


def arrays(path: Path) -> tuple[dict[str, NDArray[Any]], Arrays]:
    """Return the inputs and the expected outputs of a network, by name."""
    with np.load(path.with_suffix(".npz")) as found:
        stored = {name: found[name] for name in found.files}
    inputs, outputs = (
        {name[len(kind) :]: array for name, array in stored.items() if name.startswith(kind)}
        for kind in ("in:", "out:")
    )
    return inputs, outputs


def judge(got: Arrays, expected: Arrays, limit: float) -> tuple[float, str]:
    """Return the largest relative error, and what is wrong if it is above the limit."""
    worst = 0.0
    if list(got) != list(expected):
        return worst, f"outputs are {list(got)}, expected {list(expected)}"
    for name, want in expected.items():
        found = got[name]
        if found.shape != want.shape:
            return worst, f"output {name} has shape {found.shape}, expected {want.shape}"
        if found.dtype != want.dtype and found.dtype != ml_dtypes.bfloat16:
            return worst, f"output {name} has type {found.dtype}, expected {want.dtype}"
        if found.dtype.name not in LIMITS:  # Integers and bools.
            if not np.array_equal(found, want):
                return worst, f"output {name} differs in {np.sum(found != want)} elements"
            continue
        error = relative_error(found, want)
        worst = max(worst, error)
        if not error <= limit:
            return worst, f"output {name} differs by {error:.1e}"
    return worst, ""


def relative_error(found: NDArray[Any], want: NDArray[Any]) -> float:
    """Return max |a - b| / max |b|; infinity if b is zero, since that would show nothing."""
    wide, exact = found.astype(np.float64), want.astype(np.float64)
    largest = np.abs(exact).max(initial=0.0)
    return float(np.abs(wide - exact).max() / largest) if largest else float("inf")


def row(path: Path, result: Result) -> str:
    """Return the row of a network."""
    name, exporter = path.stem.rsplit(".", 1)
    outcome = result.reason or f"{result.error:.1e}"
    cells = [
        name, exporter, str(result.opset), f"{result.operators} ({result.kinds})",
        f"{result.seconds:.1f}", outcome,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str]) -> int:
    """Compare all networks of a folder, or those whose names are given; return the failures."""
    folder, wanted = Path(arguments[0]), set(arguments[1:])
    paths = sorted(folder.glob("*.onnx"))
    chosen = [p for p in paths if not wanted or wanted & {p.stem, p.stem.rsplit(".", 1)[0]}]
    click.echo("| network | exporter | opset | operators (kinds) | compile, CPU s | error |")
    click.echo("|---|---|---|---|---|---|")
    failures = 0
    # A process for each: what one leaves behind costs the next no time.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        for path, result in zip(chosen, pool.map(compare, chosen), strict=True):
            failures += bool(result.reason)
            click.echo(row(path, result))
    click.echo(f"{len(chosen) - failures} of {len(chosen)} agree")
    return failures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
