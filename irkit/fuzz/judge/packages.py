"""The invariants of compiled models: a package that is written reads back as the same, a damaged
one is refused, and so are wrong inputs."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from irkit.core import DTypeError, FormatError, InputError, IRKitError, ShapeError
from irkit.fuzz.judge.models import ModelCase, in_caches
from irkit.fuzz.judge.outcome import WrongSample
from irkit.runtime import Model, load

_Inputs = dict[str, Any]
_DAMAGES = 3


def package_reads_back(case: ModelCase, number: int) -> None:
    """A model that was saved and loaded computes the same bits, and damage is found.

    Raises: WrongSample.
    """
    model = case.model
    if model is None:
        return
    with tempfile.TemporaryDirectory(prefix="irkit-package-") as folder:
        path = Path(folder) / "model.irkit"
        model.save(path)
        again = load(path)
        for inputs in _inputs(case, model):
            _compare(_run(model, inputs), _run(again, inputs), "the loaded model")
        whole = path.read_bytes()
        for turn in range(_DAMAGES):
            path.write_bytes(_damaged(whole, number * _DAMAGES + turn))
            try:
                loaded = load(path)
            except FormatError:
                continue
            for inputs in _inputs(case, model):
                found = _run(loaded, inputs)
                _compare(_run(model, inputs), found, "the model of a damaged package")


def inputs_are_checked(case: ModelCase, number: int) -> None:
    """Inputs with one thing wrong are refused with an error of the right class, and those that only
    lie elsewhere in memory are not. Raises: WrongSample."""
    model = case.model
    if model is None:
        return
    for inputs in _inputs(case, model)[:1]:
        written = _written(model)
        spread = {
            name: array if name in written else _spread(array) for name, array in inputs.items()
        }
        _compare(_run(model, inputs), _run(model, spread), "the model of arrays with gaps")
        for name in () if any(pair.capacity for pair in model.plan.state) else inputs:
            for change, expected in _WRONG:
                quoted = repr(f"{name} else" if change is _unknown else name)
                _must_raise(model, change(inputs, name, number), expected, quoted)


def _must_raise(
    model: Model, inputs: _Inputs | None, expected: type[IRKitError], quoted: str
) -> None:
    """Check the class of the error for wrong inputs, and that it names the one that is wrong."""
    if inputs is None:
        return
    try:
        model.run(inputs)
    except IRKitError as error:
        if type(error) is expected and quoted in error.message:
            return
        found = f"{type(error).__name__}: {error}"
    else:
        found = "nothing"
    raise WrongSample(
        "broken", f"wrong inputs raise {found}, expected {expected.__name__} for {quoted}"
    )


def _inputs(case: ModelCase, model: Model) -> list[_Inputs]:
    names = [spec.name for spec in model.plan.inputs]
    return [dict(zip(names, inputs.copied(), strict=True)) for inputs in case.sample.inputs]


def _written(model: Model) -> set[str]:
    """Return the names of inputs that are written over."""
    return {model.plan.inputs[pair.param].name for pair in model.plan.state}


def _run(model: Model, inputs: _Inputs) -> _Inputs:
    """Run a model, which writes over copies of inputs, or over caches."""
    copied = {name: np.array(inputs[name]) for name in _written(model)}
    results = model.run({**inputs, **copied, **in_caches(model, inputs)})
    return {name: np.array(array) for name, array in results.items()}


def _compare(expected: _Inputs, found: _Inputs, what: str) -> None:
    for name, array in expected.items():
        other = found.get(name)
        if other is None or array.dtype != other.dtype or array.tobytes() != other.tobytes():
            raise WrongSample("broken", f"{what} computes something else for {name!r}")
    if expected.keys() != found.keys():
        raise WrongSample("broken", f"{what} has the results {', '.join(found)}")


def _damaged(whole: bytes, number: int) -> bytes:
    """Change a byte, or cut the file, at a place chosen by the number."""
    at = number * 7919 % len(whole)
    if number % 4 == 3:
        return whole[:at]
    return whole[:at] + bytes([whole[at] ^ (1 << number % 8)]) + whole[at + 1 :]


def _spread(array: Any) -> Any:
    found = np.asarray(array)
    return np.repeat(found, 2, axis=-1)[..., ::2] if found.ndim else found


def _grown(inputs: _Inputs, name: str, number: int) -> _Inputs | None:
    array = np.asarray(inputs[name])
    if not array.ndim:
        return None
    room = [(0, 0)] * array.ndim
    room[number % array.ndim] = (0, 1)
    return {**inputs, name: np.pad(array, room)}


def _of_other_type(inputs: _Inputs, name: str, number: int) -> _Inputs:
    array = np.asarray(inputs[name])
    other = np.dtype("f8") if array.dtype != np.dtype("f8") else np.dtype("i8")
    return {**inputs, name: np.zeros(array.shape, other)}


def _of_higher_rank(inputs: _Inputs, name: str, number: int) -> _Inputs:
    return {**inputs, name: np.asarray(inputs[name])[None]}


def _missing(inputs: _Inputs, name: str, number: int) -> _Inputs:
    return {each: array for each, array in inputs.items() if each != name}


def _unknown(inputs: _Inputs, name: str, number: int) -> _Inputs:
    return {**inputs, f"{name} else": inputs[name]}


_WRONG: tuple[tuple[Callable[[_Inputs, str, int], _Inputs | None], type[IRKitError]], ...] = (
    (_grown, ShapeError),
    (_of_higher_rank, ShapeError),
    (_of_other_type, DTypeError),
    (_missing, InputError),
    (_unknown, InputError),
)
