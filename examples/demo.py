"""The main job, from an ONNX file to checked native code, with a pass of our own on the way.

``make demo`` runs it. The network is the SqueezeNet that ships inside the onnx package; its weights
are replaced by seeded random numbers, since the shipped ones are all alike and would hide errors.
It exits with 1 if the numbers differ from onnx.reference.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import irkit
from irkit.core import console
from irkit.debug import pass_table, summarize
from irkit.frontend.onnx import import_onnx, load_model
from irkit.fuzz.generators.reference.onnx_reference import (
    reference_outputs,
    with_output,
    with_random_weights,
)

sys.path.insert(0, str(Path(__file__).parent.parent))  # The example pass is beside this file.
from examples.unroll_small_loops import unroll_small_loops

INNER = "r31"  # The output of fire 5: deep enough for a wrong kernel to show.
OUT = Path("out")
# float32 against float64 over about 30 layers of sums; measured is a tenth of it.
BOUND = 1e-4


def network() -> onnx.ModelProto:
    """Load SqueezeNet with random weights and one inner tensor as a second output."""
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    return with_output(with_random_weights(load_model(folder / "light_squeezenet.onnx")), INNER)


def compile_with_progress(model: onnx.ModelProto, screen: Console) -> irkit.Model:
    """Compile with the example pass at the end of phase 1."""
    pipeline = irkit.DEFAULT.with_passes([(1, unroll_small_loops.using(most=3))])
    columns = (TextColumn("{task.description:24}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("import", total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        return irkit.compile(model, pipeline=pipeline, progress=show)


def worst(found: NDArray[Any], expected: NDArray[Any]) -> float:
    """Return the largest difference, relative to the largest expected value."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def main() -> int:
    """Run every step and report; return the exit code."""
    screen = console()
    model = network()
    screen.print("\n[bold]1. The graph, as imported[/bold]\n")
    lines = import_onnx(model)["main"].script().splitlines()
    shown = [line if len(line) < 150 else line[:147] + "..." for line in lines]
    screen.print("\n".join([*shown[:4], "    ...", *shown[-8:]]), soft_wrap=True, markup=False)

    screen.print("\n[bold]2. Graph passes, phases 0-3 of every kernel, native code[/bold]\n")
    started = time.perf_counter()
    compiled = compile_with_progress(model, screen)
    seconds = time.perf_counter() - started
    screen.print(pass_table(summarize(compiled.trace)))
    kernels = {call.kernel for call in compiled.plan.calls}
    screen.print(f"{len(compiled.plan.calls)} calls of {len(kernels)} kernels, in {seconds:.1f} s")

    screen.print("\n[bold]3. A run, against onnx.reference in float64[/bold]\n")
    image = np.random.default_rng(1).random((1, 3, 224, 224), dtype=np.float32)
    outputs = compiled.run({"data_0": image})
    with screen.status("onnx.reference takes a few seconds"):
        expected = reference_outputs(model, {"data_0": image})
    errors = {name: worst(outputs[name], expected[name]) for name in expected}
    for name, error in errors.items():
        verdict = "agrees" if error < BOUND else "DIFFERS"
        shape = list(outputs[name].shape)
        screen.print(f"{name}: {shape} {verdict}, off by {error:.1e} of the largest")

    OUT.mkdir(exist_ok=True)
    compiled.save(OUT / "squeezenet.irkit")
    compiled.trace.save(OUT / "squeezenet.trace")
    screen.print("\n[bold]4. What is left behind[/bold]\n")
    screen.print(f"{OUT}/squeezenet.irkit   run it:  irkit run {OUT}/squeezenet.irkit --random")
    screen.print(f"{OUT}/squeezenet.trace   see it:  irkit trace {OUT}/squeezenet.trace")
    return 0 if all(error < BOUND for error in errors.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
