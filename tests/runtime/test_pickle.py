"""Copies and pickles of models."""

import copy
import pickle
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import irkit
from irkit.core import FormatError, IRKitError, Target
from irkit.runtime import Model
from tests.runtime.models import mlp, some_input

ROOT = Path(irkit.__file__).parent.parent


@pytest.fixture(scope="module")
def model() -> Model:
    return irkit.compile(mlp())


def same_bits(one: Model, other: Model) -> bool:
    found = [each.run({"x": some_input()}) for each in (one, other)]
    return all(np.array_equal(found[0][name], found[1][name]) for name in found[0])


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_model_computes_the_same_bits(model: Model, protocol: int) -> None:
    back = pickle.loads(pickle.dumps(model, protocol))
    assert isinstance(back, Model)
    assert back.plan == model.plan
    assert same_bits(back, model)


def test_a_pickled_model_has_no_trace(model: Model) -> None:
    assert len(model.trace)
    with pytest.raises(IRKitError, match="this model has no trace"):
        _ = pickle.loads(pickle.dumps(model)).trace


def test_a_copy_is_the_model_itself_which_never_changes(model: Model) -> None:
    assert copy.copy(model) is model
    assert copy.deepcopy({"m": [model]})["m"][0] is model


def test_a_pickle_is_read_by_a_process_that_compiles_nothing(model: Model, tmp_path: Path) -> None:
    (tmp_path / "m.pickle").write_bytes(pickle.dumps(model))
    code = (
        "import pathlib, pickle, sys, numpy as np\n"
        "model = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())\n"
        "np.save(sys.argv[2], model.run({'x': np.ones((4, 16), 'f4')})['p'])\n"
        "assert 'irkit.phases' not in sys.modules\n"
    )
    args = [str(tmp_path / "m.pickle"), str(tmp_path / "p.npy")]
    subprocess.run(
        [sys.executable, "-c", code, *args],
        check=True,
        env={"PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    wanted = model.run({"x": np.ones((4, 16), np.float32)})["p"]
    assert np.array_equal(np.load(tmp_path / "p.npy"), wanted)


def run_here(model: Model) -> list[float]:
    return model.run({"x": some_input()})["p"].ravel().tolist()


def test_a_model_goes_to_processes_of_a_pool(model: Model) -> None:
    with get_context("spawn").Pool(1) as pool:
        found = pool.apply(run_here, (model,))
    assert found == run_here(model)


def test_what_is_in_a_pickle_is_checked_before_it_is_linked(model: Model) -> None:
    """Only irkit's own reader is called, with bytes: the pickle names nothing else to run."""
    make, (data,) = model.__reduce__()
    code = bytearray(data)
    at = bytes(data).index(model.contents.objects[0][:64]) + 70
    code[at] ^= 0xFF
    with pytest.raises(FormatError, match=r"the pickled model is not a package.*damaged"):
        make(bytes(code))
    with pytest.raises(FormatError, match="the pickled model is not a package"):
        make(b"text")


def test_a_model_for_another_machine_does_not_come_back_here() -> None:
    other = irkit.compile(mlp(), target=Target("llvm", triple="aarch64-unknown-linux-gnu"))
    data = pickle.dumps(other)
    with pytest.raises(FormatError, match="the pickled model does not fit this machine"):
        pickle.loads(data)
