"""Compare the results of a malformed model with onnx.reference, around the known faults of the
latter."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference.op_run import OpRun

from irkit.fuzz.generators.reference.onnx_reference import reference_outputs
from irkit.fuzz.judge.files.input_verdict import InputVerdict
from irkit.fuzz.judge.files.run_model import Arrays, run_model, write_model
from irkit.processes import ChildDied, Limits, run_in_fork

_LIMITS = Limits(seconds=10.0)
_CLOSE = 1e-4
"""Error of f32 allowed, as a share of the largest number of the output."""


def compare_outputs(
    data: bytes, inputs: Arrays, outputs: Arrays, operators: Sequence[type[OpRun]] = ()
) -> InputVerdict:
    """Run a model with onnx.reference and compare. Where that fails, or differs for a model that
    the checker of onnx refuses, nothing is known. ``operators`` replace some of the reference."""
    with tempfile.TemporaryDirectory(prefix="irkit-malformed-") as folder:
        path = str(write_model(data, Path(folder)))
        try:
            model = onnx.load(path, format="protobuf")  # pyright: ignore[reportUnknownMemberType]
            with np.errstate(all="ignore"):
                expected = reference_outputs(model, inputs, operators)
        except Exception as error:  # It raises errors of any type.
            return InputVerdict(
                "excluded", f"the reference fails: {type(error).__name__}", str(error)
            )
    wrong = _difference(outputs, expected)
    if not wrong:
        return InputVerdict("agrees", "onnx.reference")
    for info in model.graph.output:
        if not info.type.tensor_type.HasField("shape"):  # irkit can do without; the checker cannot.
            for extent in np.shape(expected[info.name]):
                info.type.tensor_type.shape.dim.add(dim_value=extent)
    try:
        onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    except Exception as error:
        return InputVerdict("excluded", "the checker refuses it", f"{wrong}; {error}"[:500])
    return InputVerdict("wrong", "differs from onnx.reference", wrong)


def check_model(data: bytes, operators: Sequence[type[OpRun]] = ()) -> InputVerdict:
    """Compile and run a model, and compare its results with the reference."""
    ran = run_model(data)
    if not ran.outputs:
        return ran.verdict
    verdict = compare_in_fork(data, ran.inputs, ran.outputs, operators)
    return msgspec.structs.replace(verdict, seconds=ran.verdict.seconds)


def compare_in_fork(
    data: bytes, inputs: Arrays, outputs: Arrays, operators: Sequence[type[OpRun]] = ()
) -> InputVerdict:
    """Compare in a fork of this process: the reference is not made for such models, and may crash
    or not end, which says nothing about irkit."""

    def work() -> bytes:
        return msgspec.msgpack.encode(compare_outputs(data, inputs, outputs, operators))

    try:
        return msgspec.msgpack.decode(run_in_fork(work, _LIMITS), type=InputVerdict)
    except ChildDied as died:
        return InputVerdict("excluded", f"the reference does not return: {died.kind}")


def _difference(outputs: Arrays, expected: Arrays) -> str:
    """Return how outputs differ, or None."""
    if set(outputs) != set(expected):
        return f"outputs {sorted(outputs)} and {sorted(expected)}"
    for name, got in outputs.items():
        want = np.asarray(expected[name])
        if got.shape != want.shape:
            return f"output {name!r}: shape {got.shape} and {want.shape}"
        if not _is_close(got, want):
            return f"output {name!r}: {_few(got)} and {_few(want)}"
    return ""


def _few(array: NDArray[Any]) -> str:
    return f"{array.dtype}{list(array.reshape(-1)[:6])}"


def _is_close(got: NDArray[Any], want: NDArray[Any]) -> bool:
    if got.dtype.kind in "iub":
        return got.dtype == want.dtype and bool(np.array_equal(got, want))
    if got.dtype != want.dtype and want.dtype != np.float64:
        return False
    with np.errstate(all="ignore"):
        single = want.astype(got.dtype).astype(np.float64)
        wide = got.astype(np.float64)
        finite = np.isfinite(single)
        scale = float(np.max(np.abs(single[finite]), initial=0.0))
        share = _CLOSE if got.dtype.itemsize >= 4 else 0.02
        close = np.abs(wide - single) <= share * scale + 1e-30
        # An overflow on the way can become an infinity, or a NaN made of two; or the largest
        # number, which Clip does not exceed by default, and f64 does.
        largest = float(np.finfo(got.dtype).max) if got.dtype.kind == "f" else np.inf
        beyond = ~finite & ~(np.abs(wide) < largest)
    return bool(np.all(close | beyond))
