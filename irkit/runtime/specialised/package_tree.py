"""Packages of models that consist of others: a zip file with a package for each part.

``parts.json`` says how they belong together, and for which shapes and values each was compiled.
"""

import os
import zipfile
from collections.abc import Callable
from typing import Any, Union

import msgspec
import numpy as np

from irkit.core import FormatError, IRKitError, atomic_write
from irkit.graph import InputSpec
from irkit.ir import array_type
from irkit.runtime.model import Model
from irkit.runtime.packages import (
    PackageReport,
    add_member,
    contents_of,
    open_archive,
    package_bytes,
    package_report,
    stored_member,
    whole_file,
)
from irkit.runtime.specialised.specialised_model import Compiled, SpecialisedModel
from irkit.runtime.specialised.staged_model import Cut, StagedModel

_PARTS = "parts.json"
_LIBRARIES = (b"\x7fELF", b"\xcf\xfa\xed\xfe")
"""How shared libraries of Linux and macOS begin."""
_FORMAT = 1
MAX_DEPTH = 64
"""Parts inside each other: each operator whose output depends on data adds two."""


class _Whole(msgspec.Struct, frozen=True, tag="model"):
    number: int


class _Value(msgspec.Struct, frozen=True):
    dtype: str
    shape: tuple[int, ...]
    data: bytes


class _Specialisation(msgspec.Struct, frozen=True):
    shapes: dict[str, tuple[int, ...]]
    values: dict[str, _Value]
    model: "_Part"


class _Specialised(msgspec.Struct, frozen=True, tag="specialised"):
    inputs: tuple[InputSpec, ...]
    held: tuple[_Specialisation, ...]


class _Staged(msgspec.Struct, frozen=True, tag="staged"):
    inputs: tuple[InputSpec, ...]
    first: "_Part"
    cuts: tuple[Cut, ...]
    outputs: tuple[str, ...]
    rest: "_Part | None"
    first_inputs: tuple[str, ...]
    rest_inputs: tuple[str, ...]


_Part = Union[_Whole, _Specialised, _Staged]


class _Tree(msgspec.Struct, frozen=True):
    format: int
    root: _Part


def write_tree(path: "str | os.PathLike[str]", model: Model) -> None:
    """Write a package of a model that consists of others; an existing file is replaced only when
    the new one is complete.

    Raises: IRKitError if nothing is compiled yet.
    """
    leaves: list[Model] = []
    root = _described(model, leaves)
    with atomic_write(path) as made, zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        add_member(archive, _PARTS, msgspec.json.format(msgspec.json.encode(_Tree(_FORMAT, root))))
        for number, leaf in enumerate(leaves):
            add_member(archive, _member(number), package_bytes(leaf.contents), aligned=True)


def load(path: "str | os.PathLike[str]") -> Model:
    """Load a package written by ``Model.save``.

    Raises: FormatError if it is missing or damaged, or this processor lacks a feature it needs.
    """
    whole, title = whole_file(path), repr(os.fspath(path))
    if bytes(whole[:4]) in _LIBRARIES:
        raise FormatError(
            f"{title} is a shared library, not a package",
            hint="irkit.load_library(path) loads a model that is one.",
        )
    tree = _tree(whole, title)
    if tree is None:
        return Model(contents_of(whole, title))
    with open_archive(whole, title) as archive:
        return _loaded(tree.root, _Source(archive, whole, title), 0)


def verify_package(
    path: "str | os.PathLike[str]", verified: Callable[[int], None] = lambda _: None
) -> list[PackageReport]:
    """Compare every byte of a package with its digests, and return what its models are.

    ``verified`` is told the bytes of each member after it.
    Raises: FormatError if it is missing or damaged.
    """
    whole, title = whole_file(path), repr(os.fspath(path))
    if _tree(whole, title) is None:
        return [package_report(whole, title, verified)]
    with open_archive(whole, title) as archive:
        names = [name for name in archive.namelist() if name != _PARTS]
        return [
            package_report(stored_member(archive, whole, name), f"{title}: {name}", verified)
            for name in names
        ]


def _tree(whole: memoryview, title: str) -> "_Tree | None":
    """Return how the parts of a package belong together; None if it is one model."""
    with open_archive(whole, title) as archive:
        if _PARTS not in archive.namelist():
            return None
        try:
            tree = msgspec.json.decode(archive.read(_PARTS), type=_Tree)
        except (msgspec.MsgspecError, ValueError, RecursionError, zipfile.BadZipFile) as error:
            raise FormatError(f"package {title} is damaged: {_PARTS}: {error}") from error
    if tree.format != _FORMAT:
        raise FormatError(
            f"package {title} has format {tree.format}; this irkit reads {_FORMAT}",
            hint="Compile the model again.",
        )
    return tree


class _Source(msgspec.Struct, frozen=True):
    """A package whose parts are read."""

    archive: zipfile.ZipFile
    whole: memoryview
    title: str

    def part(self, number: int) -> memoryview:
        try:
            return stored_member(self.archive, self.whole, _member(number))
        except (LookupError, ValueError) as error:
            raise FormatError(f"package {self.title} is damaged: part {number}: {error}") from error


def parts_of(model: Model) -> list[Model]:
    """Return the models with code that a model consists of: itself, if it has some."""
    if isinstance(model, SpecialisedModel):
        inner = [each.model for each in model.specialisations]
    elif isinstance(model, StagedModel):
        inner = [model.first] if model.rest is None else [model.first, model.rest]
    else:
        return [model]
    return [leaf for each in inner for leaf in parts_of(each)]


def _described(model: Model, leaves: list[Model]) -> _Part:
    if isinstance(model, SpecialisedModel):
        if not model.specialisations:
            raise IRKitError(
                f"{model.why}, and nothing is compiled for it yet: a package would hold no code",
                hint="Fix it on import (shapes= and values=, or --shape and --value), or run the "
                "model on inputs before it is saved (--inputs FILE.npz).",
            )
        held = [
            _Specialisation(
                dict(each.shapes),
                {name: _value(array) for name, array in each.values.items()},
                _described(each.model, leaves),
            )
            for each in model.specialisations
        ]
        return _Specialised(model.open_inputs, tuple(held))
    if isinstance(model, StagedModel):
        first = _described(model.first, leaves)
        rest = None if model.rest is None else _described(model.rest, leaves)
        inputs = model.first_inputs, model.rest_inputs
        return _Staged(model.open_inputs, first, model.cuts, model.output_names, rest, *inputs)
    leaves.append(model)
    return _Whole(len(leaves) - 1)


def _loaded(part: _Part, source: _Source, depth: int) -> Model:
    if depth > MAX_DEPTH:
        raise FormatError(f"package {source.title} is damaged: its parts are nested too deep")
    match part:
        case _Whole(number):
            return Model(contents_of(source.part(number), source.title))
        case _Specialised(inputs, held):
            compiled = [
                Compiled(
                    each.shapes,
                    {name: _array(value, source.title) for name, value in each.values.items()},
                    model=_loaded(each.model, source, depth + 1),
                )
                for each in held
            ]
            return SpecialisedModel(inputs, None, compiled)
        case _Staged(inputs, first, cuts, outputs, rest, first_inputs, rest_inputs):
            return StagedModel(
                inputs,
                _loaded(first, source, depth + 1),
                cuts,
                outputs,
                None if rest is None else _loaded(rest, source, depth + 1),
                first_inputs=first_inputs,
                rest_inputs=rest_inputs,
            )


def _member(number: int) -> str:
    return f"models/{number}.irkit"


def _value(array: "np.ndarray[Any, np.dtype[Any]]") -> _Value:
    return _Value(array.dtype.name, array.shape, array.tobytes())


def _array(value: _Value, title: str) -> "np.ndarray[Any, np.dtype[Any]]":
    try:
        dtype = array_type(value.dtype)
        return np.frombuffer(value.data, dtype).reshape(value.shape)
    except (IRKitError, ValueError, TypeError) as error:
        raise FormatError(f"package {title} is damaged: a value: {error}") from error
