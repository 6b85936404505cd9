"""ONNX Runtime as a second judge of the node cases: ``python -m tests.frontend.onnx.runtime_judge``
prints those where it disagrees with what the suite expects, in the form of the list.

ONNX's own evaluator made the expected outputs, and is wrong in places.
"""

import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.frontend.onnx.node_cases import NodeCase, node_cases

LIST = Path(__file__).with_name("runtime_disagreements.txt")
_HEAD = "# Written by: python -m tests.frontend.onnx.runtime_judge\n"


def runtime_outputs(case: NodeCase) -> list[list[Any]] | None:
    """Return the outputs of ONNX Runtime for all data of a case; None if it cannot run it."""
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    names = [info.name for info in case.model.graph.input]
    try:
        session = onnxruntime.InferenceSession(
            case.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return [
            session.run(None, dict(zip(names, map(_array, given), strict=True)))
            for given, _ in case.data
        ]
    except Exception:  # It refuses operators and types that it lacks with many kinds of errors.
        return None


def disagrees(case: NodeCase, found: list[list[Any]]) -> bool:
    """Return True if an output is not the expected one, within the tolerance of the suite."""
    return any(
        not _near(case, got, _array(want))
        for (_, expected), outputs in zip(case.data, found, strict=True)
        for got, want in zip(outputs, expected, strict=True)
    )


def listed() -> set[str]:
    lines = LIST.read_text("utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def judged(cases: Iterable[NodeCase]) -> tuple[int, set[str]]:
    """Return how many cases ONNX Runtime runs, and those where it disagrees."""
    ran = [(case, runtime_outputs(case)) for case in cases]
    held = [(case, found) for case, found in ran if found is not None]
    return len(held), {case.name for case, found in held if disagrees(case, found)}


def _array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return np.asarray(value) if np.isscalar(value) else value


def _near(case: NodeCase, got: Any, want: Any) -> bool:
    if isinstance(want, (list, dict)) or want is None or isinstance(got, (list, dict)):
        return True  # irkit has no such outputs.
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if want.dtype.kind in "OSU":
        return bool((got == want).all())
    wide = (each.astype(np.float64) if each.dtype.kind not in "c" else each for each in (got, want))
    return bool(np.allclose(*wide, rtol=case.rtol, atol=case.atol, equal_nan=True))


def main() -> None:
    ran, wrong = judged(node_cases())
    sys.stdout.write(f"{ran} of {len(node_cases())} run, {len(wrong)} disagree\n")
    LIST.write_text(_HEAD + "\n".join(sorted(wrong)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
