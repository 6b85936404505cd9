"""``irkit.load_library``: a model in a shared library gives what the model gives in Python."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn, settings, strategies as st
from onnx import TensorProto
from onnx.helper import make_node, make_tensor_value_info as info

import irkit
from irkit.core import DTypeError, FormatError, InputError, IRKitError, IRModule, ShapeError
from irkit.graph import Dimension, GraphFunc, StatePair, parse, with_dimensions
from irkit.runtime import LibraryModel, Model, build_library
from tests.codegen.c.build import needs_compiler
from tests.draws import few_or_all
from tests.frontend.onnx.control_flow.test_control_flow import model as onnx_model
from tests.runtime.deploy.dlpack import CModel, tensor
from tests.runtime.test_quick_call import CHANGES

pytestmark = needs_compiler
MIXED = """
def main(x: f32[n, 4], past: f32[p, 2], h: f32[3], k: i64[n]):
    w: f32[4, 2] = constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    one: f32[3] = constant([1.0, 1.0, 1.0])
    y: f32[n, 2] = matmul(x, w)
    present = concat(past, y, axis=0)
    g: f32[3] = add(h, one)
    j: i64[n] = add(k, k)
    small = cast(y, dtype="f16")
    brain = cast(y, dtype="bf16")
    same: bool[n] = equal(j, k)
    r = (y, present, g, j, small, brain, same)
    return r
"""
DIMS = {"n": Dimension("n", 1, 4), "p": Dimension("p", 0, 8)}
STATE: dict[str, Any] = {"past": ("present", 0, 8), "h": "g"}


def mixed(target: str) -> Model:
    func = parse(MIXED)
    assert isinstance(func, GraphFunc)
    module = IRModule({"main": with_dimensions(func, DIMS)})
    return irkit.compile(module, target=target, state=STATE)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("library") / "libmixed.so"
    build_library(mixed("c"), made, "shared", name="mixed")
    return made


@pytest.fixture(scope="module")
def loaded(path: Path) -> LibraryModel:
    return irkit.load_library(path)


@pytest.fixture(scope="module")
def native() -> Model:
    return mixed("host")


def given(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "x": rng.integers(-4, 5, (rows, 4)).astype("f4"),
        "past": irkit.Cache(np.zeros((8, 2), "f4")),
        "h": np.zeros(3, "f4"),
        "k": rng.integers(0, 2, rows),
    }


def test_what_the_interface_tells_is_what_the_plan_says(
    loaded: LibraryModel, native: Model
) -> None:
    assert loaded.inputs == native.plan.inputs
    assert [(spec.name, spec.dtype) for spec in loaded.outputs] == [
        (spec.name, spec.dtype) for spec in native.plan.outputs
    ]
    assert loaded.outputs[0].shape == ("n", 2)
    assert loaded.dims["n"] == (1, 4)
    assert loaded.state == (StatePair(1, 1, 0, 8), StatePair(2, 2))
    assert repr(loaded).startswith("<LibraryModel mixed of ")
    shapes = {"x": (3, 4), "past": (2, 2), "h": (3,), "k": (3,)}
    assert loaded.output_shapes(shapes)["present"] == (5, 2)


def test_runs_agree_with_state_in_place_and_arrays_of_the_caller(
    loaded: LibraryModel, native: Model
) -> None:
    one, two = given(2), given(2)
    for rows in (2, 3, 1):
        for each in (one, two):
            each |= {name: given(rows, rows)[name] for name in ("x", "k")}
        out = np.zeros((rows, 2), "f4")
        found, wanted = loaded.run(one, out={"y": out}), native.run(two)
        assert found["y"] is out
        assert found.keys() == wanted.keys()
        for name, array in wanted.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array, name)
        assert one["past"].length == two["past"].length
        np.testing.assert_array_equal(one["h"], two["h"])
    assert one["past"].length == 6


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"x": None}, InputError),
        ({"z": np.zeros(3)}, InputError),
        ({"x": np.zeros((2, 4))}, DTypeError),
        ({"x": np.zeros((2, 5), "f4")}, ShapeError),
        ({"x": np.zeros((5, 4), "f4"), "k": np.zeros(5, "i8")}, ShapeError),
        ({"k": np.zeros(3, "i8")}, ShapeError),
        ({"past": np.zeros((8, 2), "f4")}, DTypeError),
        ({"past": irkit.Cache(np.zeros((8, 2), "f4"), 7)}, ShapeError),
        ({"h": np.zeros(6, "f4")[::2]}, ShapeError),
    ],
)
def test_both_refuse_the_same(
    loaded: LibraryModel, native: Model, change: dict[str, Any], kind: type[IRKitError]
) -> None:
    for model in (loaded, native):
        inputs = given(2) | change
        inputs = {name: array for name, array in inputs.items() if array is not None}
        with pytest.raises(kind):
            model.run(inputs)


def test_outputs_of_which_only_the_run_finds_the_size_are_cut(tmp_path: Path) -> None:
    nodes = [
        make_node("Greater", ["k", "zero"], ["keep"]),
        make_node("Compress", ["x", "keep"], ["part"], axis=1),
    ]
    inputs = [info("x", TensorProto.FLOAT, [2, 5]), info("k", TensorProto.FLOAT, [5])]
    outs = [info("part", TensorProto.FLOAT, [2, "m"])]
    proto = onnx_model(nodes, inputs, outs, {"zero": np.float32(0)})
    compiled = irkit.compile(proto, target="c", keep_trace=False)
    build_library(compiled, tmp_path / "libat.so", "shared", name="at")
    model, x = irkit.load_library(tmp_path / "libat.so"), np.arange(10, dtype="f4").reshape(2, 5)
    for ones in ([], [1, 4], [0, 1, 2, 3, 4]):
        k = np.zeros(5, "f4")
        k[ones] = 1
        found = model.run({"x": x, "k": k})["part"]
        np.testing.assert_array_equal(found, x[:, ones])
    assert model.output_shapes({"x": (2, 5), "k": (5,)}) == {"part": (2, 5)}


PLAIN = """
def main(x: f32[n, 4], k: i64[n]):
    w: f32[4, 2] = constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    y: f32[n, 2] = matmul(x, w)
    j: i64[n] = add(k, k)
    r = (y, j)
    return r
"""


def plain(target: str) -> Model:
    func = parse(PLAIN)
    assert isinstance(func, GraphFunc)
    module = IRModule({"main": with_dimensions(func, {"n": Dimension("n", 1, 4)})})
    return irkit.compile(module, target=target, keep_trace=False)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Model, LibraryModel]:
    """Return a model as it was compiled, from a package, and in a library."""
    folder = tmp_path_factory.mktemp("three")
    build_library(plain("c"), folder / "libplain.so", "shared", name="plain")
    here = plain("host")
    here.save(folder / "plain.irkit")
    loaded = irkit.load(folder / "plain.irkit")
    assert isinstance(loaded, Model)
    return here, loaded, irkit.load_library(folder / "libplain.so")


def _outcome(model: Any, inputs: Any, out: Any) -> tuple[Any, ...]:
    try:
        found = model.run(inputs, out=out)
    except (IRKitError, ValueError, TypeError) as error:
        return type(error), re.sub("0x[0-9a-f]+", "0x", str(error))
    return tuple((name, array.shape, array.tobytes()) for name, array in found.items())


ROWS = st.sampled_from([0, 1, 2, 3, 4, 5, 2**40])
CALLS = {
    "rows": st.tuples(st.integers(0, 5), st.integers(0, 5)),
    "change": st.sampled_from(sorted(CHANGES)),
    "changed": st.sampled_from("xk"),
    "out": st.none() | st.dictionaries(st.sampled_from("yjz"), st.sampled_from(sorted(CHANGES))),
    "overlap": st.booleans(),
}


@settings(max_examples=few_or_all(150, 3000), deadline=None)
@drawn(**CALLS)
def test_the_three_accept_and_refuse_the_same_calls_with_the_same_words(
    three: tuple[Model, Model, LibraryModel],
    rows: tuple[int, int],
    change: str,
    changed: str,
    out: dict[str, str] | None,
    overlap: bool,
) -> None:
    room = np.arange(40, dtype="f4")
    inputs: dict[str, Any] = {
        "x": room[: 4 * rows[0]].reshape(rows[0], 4),
        "k": np.arange(rows[1]),
    }
    inputs[changed] = CHANGES[change](inputs[changed])
    outcomes = list[Any]()
    for model in three:
        at = 4 * rows[0] - overlap
        y = np.zeros((rows[0], 2), "f4") if at < 0 else room[at:][: 2 * rows[0]].reshape(-1, 2)
        places = {"y": y.copy() if not overlap else y, "j": np.zeros(rows[1], "i8"), "z": y}
        given_out = None if out is None else {n: CHANGES[c](places[n]) for n, c in out.items()}
        before = room.copy()
        outcomes.append(_outcome(model, inputs, given_out))
        if isinstance(outcomes[-1][0], type):
            np.testing.assert_array_equal(room, before)
        room[:] = before
    assert outcomes[0] == outcomes[1]
    if outcomes[2] != outcomes[0]:  # What C itself finds in the shapes, it says in its own words.
        assert outcomes[0][0] is outcomes[2][0] is ShapeError
        assert "n must be from" in outcomes[2][1] or "in another place" in outcomes[2][1]


@settings(max_examples=few_or_all(150, 3000), deadline=None)
@drawn(rows=CALLS["rows"], change=CALLS["change"], changed=CALLS["changed"])
def test_c_refuses_by_itself_what_python_refuses(
    three: tuple[Model, Model, LibraryModel], rows: tuple[int, int], change: str, changed: str
) -> None:
    """Nothing of Python is between: the border of the library is its own."""
    here, _, library = three
    inputs: dict[str, Any] = {
        "x": np.arange(4 * rows[0], dtype="f4").reshape(-1, 4),
        "k": np.arange(rows[1]),
    }
    inputs[changed] = CHANGES[change](inputs[changed])
    if not all(isinstance(each, np.ndarray) for each in inputs.values()):
        return  # It is no tensor.
    if any(not each.dtype.isnative for each in inputs.values()):
        return  # DLPack has no such types.
    with CModel(library.path, "plain") as model:
        sizes = [(*inputs[name].shape, 0)[0] for name in "xk"]
        y, j = np.zeros((sizes[0], 2), "f4"), np.zeros(sizes[1], "i8")
        tensors = [tensor(inputs[name], strides=True) for name in "xk"]
        code = model.run_tensors(tensors, [tensor(y), tensor(j)])
        error = model.error
    wanted = _outcome(here, inputs, None)
    if isinstance(wanted[0], type):
        assert code == 1, (code, error, wanted)
    else:  # A caller of C makes the copy itself that Python makes.
        usable = [
            not each.size or (each.flags.c_contiguous and each.flags.aligned)
            for each in inputs.values()
        ]
        assert (code == 0) == all(usable), error
    if code == 0:
        assert wanted == (("y", y.shape, y.tobytes()), ("j", j.shape, j.tobytes()))


@settings(max_examples=few_or_all(60, 600), deadline=None)
@drawn(shape=st.tuples(ROWS, st.sampled_from([3, 4])) | st.tuples(ROWS), rows=ROWS)
def test_the_three_tell_the_same_before_a_call(
    three: tuple[Model, Model, LibraryModel], shape: tuple[int, ...], rows: int
) -> None:
    def told(model: Any) -> Any:
        try:
            return model.output_shapes({"x": shape, "k": (rows,)})
        except IRKitError as error:
            return type(error)

    here, loaded, library = three
    assert here.inputs == loaded.inputs == library.inputs
    assert here.outputs == loaded.outputs == library.outputs
    assert here.dims == loaded.dims == library.dims == {"n": (1, 4)}
    assert here.state == loaded.state == library.state == ()
    assert told(here) == told(loaded) == told(library)
    assert told(here) == (
        {"y": (rows, 2), "j": (rows,)} if shape == (rows, 4) and 1 <= rows <= 4 else ShapeError
    )


def test_mistakes_with_the_file_say_what_to_do(path: Path, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"irkit\.load_library"):
        irkit.load(path)
    with pytest.raises(FormatError, match=r"load_library\(path, name="):
        irkit.load_library(path, name="other")
    (tmp_path / "no.so").write_bytes(b"no library")
    with pytest.raises(FormatError, match="cannot be loaded"):
        irkit.load_library(tmp_path / "no.so")
    with pytest.raises(FormatError, match="cannot be opened"):
        irkit.load_library(path, weights=tmp_path / "none.bin")
    with pytest.raises(ShapeError, match="-1 threads"):
        irkit.load_library(path, threads=-1)
