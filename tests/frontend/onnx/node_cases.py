"""The node cases of ONNX's own back-end suite, and what irkit makes of each.

``python -m tests.frontend.onnx.node_cases`` counts them by the interpreter, with ``--native`` by
native code, and with ``--write`` it writes the list of those refused. With ``--open`` each is one
program in which every dimension of its inputs is only known at the call; only inputs that decide a
shape are given before. The count ends with the cases that have choices and loops, and those with
outputs whose size depends on data.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, Literal

import msgspec
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

import irkit
from irkit.core import DTypeError, IRKitError, IRModule
from irkit.frontend.onnx import UnsupportedModel, import_onnx, shape_values
from irkit.fuzz.generators.onnx_models.suite_cases import REFUSED_CASES, shipped_cases
from irkit.graph import GraphFunc, arrays_of, interpret, tensors_in
from irkit.ir import array_type, bits_of
from irkit.phases.executor.tensor_specs import narrow_types
from irkit.phases.specialise import compile_onnx
from irkit.runtime import Model, parts_of

Arrays = Mapping[str, Any]
Prepare = Callable[[onnx.ModelProto], Model]
Status = Literal["as is", "rounded", "refused", "wrong"]


class NodeCase(msgspec.Struct, frozen=True):
    """A model with one or more pairs of inputs and outputs."""

    name: str
    model: onnx.ModelProto
    data: list[tuple[list[Any], list[Any]]]
    rtol: float
    atol: float

    @property
    def nodes(self) -> list[onnx.NodeProto]:
        return [*self.model.graph.node]


class Outcome(msgspec.Struct, frozen=True):
    """What became of a case; ``kernels`` counts those that ran, which the interpreter has not, and
    ``fixed`` means that inputs decided a shape, so it was compiled for their values.

    A result is "rounded" if it differs from the suite's by more than its tolerance of 1e-3 and
    1e-7, but by at most two units in the last place of the largest element: the suite expects the
    rounding errors of NumPy.
    """

    status: Status
    reason: str = ""
    kernels: int = -1
    fixed: bool = False


@cache
def node_cases() -> tuple[NodeCase, ...]:
    return tuple(
        NodeCase(each.name, each.model, [*each.data_sets], each.rtol, each.atol)
        for each in shipped_cases()
    )


def operator_of(case: NodeCase) -> str:
    """Return the operator that a case is about: of an expanded one, that in its name."""
    return case.nodes[-1].op_type


def type_class(case: NodeCase) -> str:
    """Return the kind of elements of the first input that is a tensor."""
    for info in case.model.graph.input:
        if info.type.HasField("tensor_type"):
            return onnx.TensorProto.DataType.Name(info.type.tensor_type.elem_type)
    return "none"


class _InterpretedModel(Model):
    """A module that the interpreter of graphs runs."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        main = module["main"]
        assert isinstance(main, GraphFunc)
        attrs: dict[str, Any] = dict(main.attrs)
        self.names = attrs["outputs"]
        kinds = [tensor for param in main.params for tensor in tensors_in(param.type)]
        narrow = narrow_types(main, "inputs")
        self.types = {
            name: array_type(narrow.get(name, str(kind.dtype)))
            for name, kind in zip(attrs["inputs"], kinds, strict=True)
        }
        self.narrow = narrow_types(main, "outputs")

    def run(self, inputs: Arrays, *, out: Mapping[str, Any] | None = None) -> dict[str, Any]:
        assert out is None
        # Native code checks the types of inputs, the interpreter does not.
        for name, wanted in self.types.items():
            found = np.asarray(inputs[name]).dtype
            if found != wanted:
                raise DTypeError(f"input {name!r} must be of type {wanted}, found {found}")
        given = {name: bits_of(np.asarray(inputs[name])) for name in self.types}
        arrays = arrays_of(interpret(self.module, given))
        return {
            name: array.view(array_type(self.narrow[name])) if name in self.narrow else array
            for name, array in zip(self.names, arrays, strict=True)
        }


def interpreted(model: onnx.ModelProto) -> Model:
    """Return a model that the interpreter of graphs runs, in the parts of a compiled one."""
    return compile_onnx(model, {}, {}, lambda given: _InterpretedModel(given.pop()))


def native(model: onnx.ModelProto) -> Model:
    return irkit.compile(model, verify=False, keep_trace=False)


def opened(case: NodeCase) -> Model:
    """Return a case as one program for all sizes, which the interpreter runs: dimensions of the
    same size have the same name."""
    proto = onnx.ModelProto()
    proto.CopyFrom(case.model)
    feeds = dict(
        zip((i.name for i in proto.graph.input), map(as_array, case.data[0][0]), strict=True)
    )
    shapes: dict[str, tuple[str, ...]] = {}
    for info in proto.graph.input:
        if info.type.HasField("tensor_type"):
            shapes[info.name] = tuple(f"d{n}" for n in np.shape(feeds[info.name]))
            info.type.tensor_type.ClearField("shape")
    for info in proto.graph.output:
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    values = shape_values(proto, feeds, shapes=shapes)
    left = {name: shape for name, shape in shapes.items() if name not in values}
    return _InterpretedModel(import_onnx(proto, shapes=left, values=values))


FLOW = frozenset({"If", "Loop", "Scan", "SequenceMap"})
COUNTED = frozenset({"Compress", "NonMaxSuppression", "NonZero", "Unique"})


def operators_in(case: NodeCase) -> set[str]:
    """Return the operators of a case, those of graphs inside and of its functions included."""
    found: set[str] = set()
    waiting = [*case.nodes, *(node for func in case.model.functions for node in func.node)]
    while waiting:
        node = waiting.pop()
        found.add(node.op_type)
        waiting += [inner for each in node.attribute for inner in each.g.node]
    return found


def kernels_run(model: Model) -> int:
    """Count the kernels of a model that ran once, in all parts; -1 if the interpreter ran it."""
    parts = parts_of(model)
    if any(isinstance(part, _InterpretedModel) for part in parts):
        return -1
    return sum(len(part.plan.calls) for part in parts)


def judge(case: NodeCase, prepare: Prepare) -> Outcome:
    """Run a case on data given at the call, and compare it with what the suite expects."""
    rounded, model = False, None
    try:
        for inputs, expected in case.data:
            names = (info.name for info in case.model.graph.input)
            feeds = dict(zip(names, map(as_array, inputs), strict=True))
            model = prepare(case.model) if model is None else model
            got = [*model.run(feeds).values()]
            wrong = [
                _difference(case, array, want)
                for array, want in zip(got, map(as_array, expected), strict=True)
            ]
            rounded |= "rounded" in wrong
            worst = next((text for text in wrong if text not in ("", "rounded")), "")
            if worst:
                return Outcome("wrong", worst)
    except IRKitError as error:
        return Outcome("refused", reason_of(error))
    assert model is not None
    at_once = isinstance(model, _InterpretedModel)
    fixed = not at_once and any(each.values for each in model.specialisations)
    return Outcome("rounded" if rounded else "as is", "", kernels_run(model), fixed)


def as_array(value: Any) -> Any:
    """Return an input or output of a case as an array, or a list of them."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if np.isscalar(value) else value


def _difference(case: NodeCase, got: NDArray[Any], expected: Any) -> str:
    if isinstance(expected, list):
        return "expected a sequence"
    want: NDArray[Any] = np.asarray(expected)
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    if bits_of(want) is not want:
        got, want = got.astype(np.float32), want.astype(np.float32)
    try:
        np.testing.assert_allclose(got, want, rtol=case.rtol, atol=case.atol)
    except AssertionError as error:
        return "rounded" if _only_rounded(got, want) else " ".join(str(error).split())
    return ""


def _only_rounded(got: NDArray[Any], want: NDArray[Any]) -> bool:
    units = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23}
    unit = units.get(want.dtype.name)
    if unit is None:
        return False
    exact, near = want.astype(np.float64), got.astype(np.float64)
    if not np.array_equal(np.isfinite(exact), np.isfinite(near)) or not np.isfinite(exact).all():
        return False
    return bool(np.abs(exact - near).max() <= 2 * unit * np.abs(exact).max())


def reason_of(error: IRKitError) -> str:
    """Return why a case is refused, without the names in it."""
    if isinstance(error, UnsupportedModel):
        return f"no converter: {', '.join(sorted({name for name, _, _ in error.operators}))}"
    inner = error.message.rpartition("in its function body, ")[2]
    inner = re.sub(r" \((output '[^']*', )?opset \d+\)$", "", inner)
    return re.sub(r"'[^']*'", "'...'", re.sub(r"^\w+ node '[^']*': ", "", inner))


def write_refused(reasons: Mapping[str, str]) -> None:
    """Write the list of cases that are refused."""
    grouped: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        grouped.setdefault(reason, []).append(name)
    lines = ["# Written by: python -m tests.frontend.onnx.node_cases --write"]
    for reason in sorted(grouped, key=lambda each: (-len(grouped[each]), each)):
        lines += [reason, *(f"    {name}" for name in sorted(grouped[reason]))]
    REFUSED_CASES.write_text("\n".join(lines) + "\n", "utf-8")


def report(outcomes: Mapping[str, Outcome]) -> str:
    """Return the counts as text: by status, and why cases are refused."""
    counts = Counter(each.status for each in outcomes.values())
    lines = [f"{len(outcomes)} node cases of onnx {onnx.__version__}"]
    kinds: tuple[Status, ...] = ("as is", "rounded", "refused", "wrong")
    lines += [f"{counts[status]:6} {status}" for status in kinds]
    fixed = sum(each.fixed for each in outcomes.values())
    lines += [f"{fixed:6} of those that passed were compiled for the values of inputs"]
    idle = sum(each.kernels == 0 for each in outcomes.values())
    lines += [f"{idle:6} of those that passed ran no kernel"] if _ran(outcomes.values()) else []
    reasons = Counter(each.reason for each in outcomes.values() if each.status == "refused")
    lines += [f"{count:6} {reason}" for reason, count in reasons.most_common()]
    lines += [
        f"wrong: {name}: {each.reason}" for name, each in outcomes.items() if each.status == "wrong"
    ]
    return "\n".join(lines)


def _ran(outcomes: Iterable[Outcome]) -> bool:
    return any(each.kernels >= 0 for each in outcomes)


def _opened(case: NodeCase, model: onnx.ModelProto) -> Model:
    return opened(case)


def main(args: list[str]) -> None:
    prepare = native if "--native" in args else interpreted
    outcomes = {
        case.name: judge(case, partial(_opened, case) if "--open" in args else prepare)
        for case in node_cases()
    }
    sys.stdout.write(report(outcomes) + "\n")
    passed = [case for case in node_cases() if outcomes[case.name].status in ("as is", "rounded")]
    for what, names in (("choices or loops", FLOW), ("sizes that depend on data", COUNTED)):
        count = sum(not names.isdisjoint(operators_in(case)) for case in passed)
        sys.stdout.write(f"{count:6} of those that passed have {what}\n")
    if "--write" in args:
        write_refused(
            {name: each.reason for name, each in outcomes.items() if each.status == "refused"}
        )


if __name__ == "__main__":
    main(sys.argv[1:])
