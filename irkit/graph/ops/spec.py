"""The description of an operator: names and kinds of arguments and attributes, a rule for types,
and a rule for arrays.

An operator is data. The rules get complete attributes: ``resolve`` fills in what depends on the
rank and counts axes from the front.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.core import Attrs, AttrScalar, AttrValue, DTypeError, IRKitError, OptionError, ShapeError
from irkit.graph.types import TensorType, Type
from irkit.ir import DType, as_dtype

# The element type is known only when a program runs.
Array = NDArray[Any]
Arrays = Array | tuple[Array, ...]
Tensors = tuple[TensorType, ...]

Kind = Literal["elementwise", "broadcast", "injective", "reduction", "complex", "opaque"]
KINDS: tuple[Kind, ...] = (
    "elementwise",
    "broadcast",
    "injective",
    "reduction",
    "complex",
    "opaque",
)
AttrKind = Literal["int", "float", "bool", "ints", "dtype", "scalar"]
_T = TypeVar("_T")


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()


class Attribute(msgspec.Struct, frozen=True):
    """One attribute: its kind and default."""

    name: str
    kind: AttrKind
    default: AttrValue | _Required = REQUIRED


class OpOptions(Mapping[str, AttrValue]):
    """The complete attributes of one operator application, read by kind."""

    def __init__(self, values: Mapping[str, AttrValue]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> AttrValue:
        return self._values[name]

    def __iter__(self):  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType] -- inherited from Mapping
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in self.items())})"

    def ints(self, name: str) -> tuple[int, ...]:
        return cast(tuple[int, ...], self._values[name])

    def int(self, name: str) -> int:
        return cast(int, self._values[name])

    def float(self, name: str) -> float:
        return cast(float, self._values[name])

    def flag(self, name: str) -> bool:
        return cast(bool, self._values[name])

    def scalar(self, name: str) -> "int | float | bool":
        return cast("int | float | bool", self._values[name])

    def dtype(self, name: str) -> DType:
        return as_dtype(cast(str, self._values[name]))

    def replace(self, **changes: AttrValue) -> "OpOptions":
        return OpOptions({**self._values, **changes})


def _as_given(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    return options


class OpSpec(msgspec.Struct, frozen=True):
    """Description of one operator.

    ``args`` names the arguments; the last ``optional`` can be left out; if ``variadic``, the last
    name stands for one or more. ``kind`` tells fusion what is possible: elementwise and broadcast
    (each output element needs the same element of its inputs), injective (needs one element, found
    by index arithmetic), reduction, complex (takes elementwise epilogues), opaque.
    """

    name: str
    kind: Kind
    args: tuple[str, ...]
    types: Callable[[Tensors, OpOptions], Type]
    arrays: Callable[[tuple[Array, ...], OpOptions], Arrays]
    attributes: tuple[Attribute, ...] = ()
    optional: int = 0
    variadic: bool = False
    resolve: Callable[[tuple[int, ...], OpOptions], OpOptions] = _as_given

    def infer(self, types: Sequence[Type], attrs: Attrs | Mapping[str, AttrValue] = ()) -> Type:
        """Return the type of the result.

        Raises: ShapeError, DTypeError or OptionError; each names the operator.
        """
        tensors = self._tensors(types)
        options = self.options(attrs, tuple(len(tensor.shape) for tensor in tensors))
        return self._named(lambda: self.types(tensors, options))

    def evaluate(
        self, arrays: Sequence[Array], attrs: Attrs | Mapping[str, AttrValue] = ()
    ) -> Arrays:
        """Compute the result in NumPy, in the element types of the arguments; several results are a
        tuple."""
        given = tuple(np.asarray(array) for array in arrays)
        options = self.options(attrs, tuple(array.ndim for array in given))
        with np.errstate(all="ignore"):
            return self._named(lambda: self.arrays(given, options))

    def options(self, attrs: Attrs | Mapping[str, AttrValue], ranks: tuple[int, ...]) -> OpOptions:
        """Check attributes, and fill in defaults and what depends on the ranks of the arguments."""
        given = dict(attrs)
        known = {attribute.name: attribute for attribute in self.attributes}
        for name in given:
            if name not in known:
                raise OptionError(
                    f"{self.name} has no attribute {name!r}; it has: {', '.join(known) or 'none'}"
                )
        full: dict[str, AttrValue] = {}
        for attribute in self.attributes:
            value = given.get(attribute.name, attribute.default)
            if isinstance(value, _Required):
                raise OptionError(f"{self.name} needs the attribute {attribute.name!r}")
            full[attribute.name] = _checked(self.name, attribute, value)
        return self._named(lambda: self.resolve(ranks, OpOptions(full)))

    def argument(self, position: int) -> str:
        """Return the name of an argument for a message."""
        if self.variadic and position >= len(self.args) - 1:
            return f"{self.args[-1]}[{position - len(self.args) + 1}]"
        return self.args[position]

    def _tensors(self, types: Sequence[Type]) -> Tensors:
        least = len(self.args) - self.optional
        most = None if self.variadic else len(self.args)
        if len(types) < least or (most is not None and len(types) > most):
            wanted = str(least) if most == least else f"{least} to {most}" if most else "1 or more"
            raise ShapeError(
                f"{self.name} takes {wanted} arguments ({', '.join(self.args)}), found {len(types)}"
            )
        tensors: list[TensorType] = []
        for position, given in enumerate(types):
            if not isinstance(given, TensorType):
                raise ShapeError(
                    f"{self.name}: argument {self.argument(position)} must be a tensor, found a "
                    f"{'tuple' if type(given).__name__ == 'TupleType' else 'function'}"
                )
            tensors.append(given)
        return tuple(tensors)

    def _named(self, run: Callable[[], _T]) -> _T:
        try:
            return run()
        except (ShapeError, DTypeError) as error:
            if error.message.startswith(f"{self.name}: "):
                raise
            raise type(error)(
                f"{self.name}: {error.message}", hint=error.hint, span=error.span
            ) from None


def _checked(op: str, attribute: Attribute, value: AttrValue) -> AttrValue:
    kind = attribute.kind
    if kind == "int":
        fits = isinstance(value, int) and not isinstance(value, bool)
    elif kind == "float":
        fits = isinstance(value, (int, float)) and not isinstance(value, bool)
        value = float(value) if isinstance(value, (int, float)) else value
    elif kind == "bool":
        fits = isinstance(value, bool)
    elif kind == "scalar":
        fits = isinstance(value, (int, float))
    elif kind == "ints":
        items = cast(tuple[AttrScalar, ...], value if isinstance(value, tuple) else (None,))
        fits = all(isinstance(item, int) and not isinstance(item, bool) for item in items)
    else:
        fits = isinstance(value, str)
        if isinstance(value, str):
            value = str(as_dtype(value))
    if not fits:
        expected = {"ints": "a tuple of ints", "dtype": "the name of a type", "bool": "a bool"}
        raise OptionError(
            f"{op}: attribute {attribute.name} must be {expected.get(kind, f'a number ({kind})')}, "
            f"found {value!r}"
        )
    return value


def as_attrs(values: Mapping[str, Any]) -> Attrs:
    """Convert Python and NumPy values to attributes: lists become tuples, types their names."""
    return tuple((name, _as_attr(name, value)) for name, value in values.items())


def _as_attr(name: str, value: Any) -> AttrValue:
    if isinstance(value, DType):
        return str(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return cast(AttrValue, value.item())
    if isinstance(value, (list, tuple, np.ndarray)):
        items = cast(Sequence[Any], value)
        return cast(AttrValue, tuple(_as_attr(name, item) for item in items))
    raise IRKitError(f"attribute {name} cannot hold a {type(value).__name__}")
