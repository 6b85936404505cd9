"""The table of target by suite: cases that ran, and passed, on everything that runs code here.

- ``programs``: random programs after the phases, bit for bit (``pairs``).
- ``nodes``: the kernels of the node cases of ONNX's own suite, the first case of each operator and
  kind of elements (all of them with ``--all``), on the suite's data, bit for bit.
- ``networks``: the kernels of small networks in f32, f16 and bf16, on random fractions, bit for
  bit.
- ``check``: the same kernels as ``irkit check --target host --target ...`` compares them: products
  and sums may be contracted, and results differ within the bounds of rounding.

::

    python -m tests.targets.suites --folder out/suites

prints the table, goes on where it ended, and fails if a case did or a target ran no case of a
suite. What is not installed stands in the table as "not run", with what installs it.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.cli.flags.model_inputs import feeds_of, graph_stages
from irkit.core import IRKitError, IRModule
from irkit.debug.execution.executors import exact
from irkit.debug.execution.inputs import InputSet
from irkit.debug.execution.native_worker import NativeWorker
from irkit.debug.split.kernel_cases import kernel_cases
from irkit.debug.targets import TargetComparison, target_executor
from irkit.frontend.onnx import import_onnx, shape_values
from irkit.graph import GraphFunc, parse as parse_graph
from irkit.ir import Buffer, numpy_dtype, parse
from irkit.passes.loop import expand_functions
from irkit.phases import DEFAULT
from tests.frontend.onnx.node_cases import as_array
from tests.frontend.onnx.test_node_cases import accepted, chosen
from tests.targets.pairs import (
    AWAY,
    BATCH,
    EXECUTORS,
    FOR_DEVICES,
    BatchResult,
    Case,
    KnownCase,
    compared,
    executor_of,
    run_executors,
    with_results,
)

SUITES = ("programs", "nodes", "networks", "check")
MAX_STEPS = 200_000
SECONDS = 60.0
"""Of native code, where the interpreter takes too long."""
NETWORKS = {
    "mlp": """
def main(x: KIND[4, 16], w: KIND[16, 32], b: KIND[32], v: KIND[32, 8]):
    product: KIND[4, 32] = matmul(x, w)
    sum: KIND[4, 32] = add(product, b)
    hidden: KIND[4, 32] = relu(sum)
    scores: KIND[4, 8] = matmul(hidden, v)
    p: KIND[4, 8] = softmax(scores, axis=1)
    return p
""",
    "attention": """
def main(q: KIND[2, 6, 8], k: KIND[2, 6, 8], v: KIND[2, 6, 8]):
    t: KIND[2, 8, 6] = transpose(k, axes=(0, 2, 1))
    s: KIND[2, 6, 6] = matmul(q, t)
    p: KIND[2, 6, 6] = softmax(s, axis=2)
    m: KIND[2, 6, 8] = matmul(p, v)
    a: KIND[2, 6, 8] = add(m, q)
    y: KIND[2, 6, 8] = tanh(a)
    return y
""",
    "convolutions": """
def main(x: KIND[1, 3, 9, 9], w: KIND[8, 3, 3, 3], v: KIND[4, 8, 1, 1]):
    c: KIND[1, 8, 9, 9] = conv(x, w, pads=(1, 1, 1, 1))
    a: KIND[1, 8, 9, 9] = relu(c)
    m: KIND[1, 8, 4, 4] = max_pool(a, kernel=(2, 2), strides=(2, 2))
    d: KIND[1, 4, 4, 4] = conv(m, v)
    y: KIND[1, 4, 4, 4] = sigmoid(d)
    return y
""",
}
"""Small networks, whose numbers are all of one kind."""
KINDS = ("f32", "f16", "bf16")


def kernels_of(module: IRModule, given: Mapping[str, NDArray[Any]]) -> Iterator[Case]:
    """Yield the kernels of a model on the data of a run, as the graph passes leave them."""
    main = module["main"]
    assert isinstance(main, GraphFunc)
    for each in kernel_cases(graph_stages(module), feeds_of(main, given, 0)):
        func = parse(each.text)
        args = list[object]()
        for param in func.params:
            assert isinstance(param, Buffer)
            shape = [int(getattr(dim, "value")) for dim in param.shape]
            known = each.inputs.get(param.name)
            args.append(np.zeros(shape, numpy_dtype(param.dtype)) if known is None else known)
        yield Case(func, func, tuple(args))


def exactly(case: Case) -> Case:
    """Return a kernel after the phases, with results that are the same bits everywhere."""
    func = exact(expand_functions(case.func, fuses=False))  # Not all targets fuse.
    return Case(DEFAULT.run(func), FOR_DEVICES.run(func), case.args)


@cache
def node_kernels(everything: bool) -> list[Case]:
    """Return the kernels of the node cases. There are none of a case that is compiled at the call,
    has choices or loops, or whose kernels have open sizes."""
    found = list[Case]()
    for each in accepted() if everything else chosen():
        names = [info.name for info in each.model.graph.input]
        feeds = {n: as_array(a) for n, a in zip(names, each.data[0][0], strict=True)}
        with suppress(
            IRKitError, AttributeError, TypeError, KeyError
        ):  # It has none, as said above.
            values = shape_values(each.model, feeds)
            left = {name: array for name, array in feeds.items() if name not in values}
            module = import_onnx(each.model, values=values)
            found += map(exactly, [*kernels_of(module, left)])
    return found


@cache
def network_kernels() -> list[Case]:
    """Return the kernels of the small networks."""
    found = list[Case]()
    for text in NETWORKS.values():
        for kind in KINDS:
            func = parse_graph(text.replace("KIND", kind))
            assert isinstance(func, GraphFunc)
            found += kernels_of(IRModule({"main": func}), {})
    return found


@cache
def known(suite: str, everything: bool) -> list[KnownCase]:
    """Return the cases of a suite that the interpreter can run, with what it computes."""
    if suite == "nodes":
        return with_results(node_kernels(everything))
    return with_results([exactly(each) for each in network_kernels()])


def run_check(name: str) -> BatchResult:
    """Compare the kernels of the networks on this processor and on a target, as ``irkit check``."""
    started = time.monotonic()
    result = BatchResult(name, 0)
    with closing(NativeWorker(SECONDS)) as worker:
        comparison = TargetComparison(
            executor_of("host -opt-level=2"),
            executor_of(name),
            target_executor("interpreter", max_steps=MAX_STEPS),
            worker,
            contract=True,
            max_steps=MAX_STEPS,
        )
        for case in network_kernels():
            inputs = InputSet("the data of the model", "given", case.args)
            launched = FOR_DEVICES.run(case.func)
            found = comparison.verdict(DEFAULT.run(case.func), [inputs], launched)
            if found.status == "failed" and any(word in found.message for word in AWAY):
                result.away += 1
            elif found.status == "not known":
                result.refused += 1
            else:
                result.ran += 1
                if found.status not in ("same", "rounds differently"):
                    result.wrong.append(f"{found.status}: {found.message}\n{case.func.script()}")
    result.seconds = time.monotonic() - started
    return result


def run_suite(suite: str, name: str, folder: Path, cases: int, everything: bool) -> BatchResult:
    """Run a suite on an executor, or go on with it, and return what is known of it."""
    if suite == "programs":
        run_executors([name], folder / suite, cases, until=math.inf)
        paths = sorted((folder / suite / name.partition(" ")[0]).iterdir())
        return _sum(name, map(_read, paths))
    file = folder / suite / f"{name.partition(' ')[0]}.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        if suite == "check":
            made = run_check(name)
        else:
            whole = known(suite, everything)
            parts = [whole[at : at + BATCH] for at in range(0, len(whole), BATCH)]
            made = _sum(name, (compared(name, n, part) for n, part in enumerate(parts)))
        file.write_bytes(msgspec.json.encode(made))
    return _read(file)


def _read(file: Path) -> BatchResult:
    return msgspec.json.decode(file.read_bytes(), type=BatchResult)


def _sum(name: str, results: Iterable[BatchResult]) -> BatchResult:
    made = BatchResult(name, 0)
    for each in results:
        made.ran, made.refused = made.ran + each.ran, made.refused + each.refused
        made.away, made.seconds = made.away + each.away, made.seconds + each.seconds
        made.wrong = [*made.wrong, *each.wrong]
    return made


Found = dict[str, dict[str, BatchResult]]
"""Results by executor and suite."""


def table(found: Found, missing: Mapping[str, str]) -> str:
    """Return the table: for each suite the cases that passed, of how many that ran."""
    lines = [f"| target | {' | '.join(SUITES)} |", f"| --- |{' ---: |' * len(SUITES)}"]
    for name in (*found, *missing):
        cells = [_cell(found[name].get(suite)) for suite in SUITES] if name in found else []
        cells = cells or [f"not run: {missing[name]}", *[""] * (len(SUITES) - 1)]
        lines.append(f"| {name.partition(' ')[0]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(result: BatchResult | None) -> str:
    if result is None or not result.ran:
        return "no case"
    text = f"{result.ran - len(result.wrong)} of {result.ran}"
    return f"{text} ({result.away} times the emulator failed)" if result.away else text


def failures(found: Found) -> list[str]:
    """Return what is wrong: cases, and suites of which a target ran no case."""
    texts = list[str]()
    for name, suites in found.items():
        for suite in SUITES:
            result = suites.get(suite)
            if result is None or not result.ran:
                texts.append(f"{name}: no case of the suite {suite!r} ran")
            else:
                texts += [f"{name}, {suite}: {wrong}" for wrong in result.wrong]
    return texts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all suites on all executors that are installed, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("out/suites"))
    parser.add_argument("--cases", type=int, default=200, help="random programs for each target")
    parser.add_argument("--all", action="store_true", help="all node cases")
    parser.add_argument("--executor", action="append", default=[])
    given = parser.parse_args(arguments)
    chosen_names = [
        name for name in EXECUTORS if not given.executor or name.partition(" ")[0] in given.executor
    ]
    missing = {name: executor_of(name).missing for name in chosen_names}
    found: Found = {name: {} for name in chosen_names if not missing[name]}
    for suite in SUITES:
        for name in found:
            found[name][suite] = run_suite(suite, name, given.folder, given.cases, given.all)
    wrong = failures(found)
    print("\n\n".join(wrong), file=sys.stderr)
    print(table(found, {name: why for name, why in missing.items() if why}))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
