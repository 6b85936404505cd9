"""Expressions at the values that z3 found: what the interpreter makes of them."""

from typing import Any, NamedTuple

import numpy as np

from irkit.core import rewrite
from irkit.ir import (
    I64,
    U16,
    Buffer,
    Const,
    DType,
    Expr,
    Load,
    Ramp,
    Var,
    evaluate,
    numpy_dtype,
)
from irkit.proof.floats import number_of
from irkit.proof.texts import expr_text
from irkit.proof.translate import Translation


class ModelElements(NamedTuple):
    """The elements that a model gives for a buffer: those it names, and the value of the rest."""

    known: dict[tuple[int, ...], Any]
    rest: Any


class ModelValues:
    """The values of a model: those of variables, and of the elements that are loaded."""

    def __init__(self, translation: Translation, model: Any) -> None:
        self.translation, self.model = translation, model
        self._lane = 0 if translation.lane is None else self._number(translation.lane, U16)
        self.bindings: dict[Any, Any] = {
            var: self._number(term, var.dtype) for var, term in translation.variables.items()
        }
        self.elements: list[tuple[Buffer, tuple[int, ...], Any]] = []
        self.shown: dict[str, Any] = {var.name: value for var, value in self.bindings.items()}

    def of(self, expr: Expr, more: tuple[Var, ...] = ()) -> Any:
        """Evaluate an expression by the interpreter, with loads from the memory of the model.

        Raises: IRKitError as ``evaluate`` does.
        """
        bindings = dict(self.bindings)

        def loaded(node: Load) -> Expr:
            places = [np.asarray(evaluate(index, bindings)) for index in node.indices]
            lanes = node.dtype.lanes
            wide = [np.broadcast_to(place, lanes).astype(np.int64) for place in places]
            found = [
                self._element(node.buffer, tuple(int(place[at]) for place in wide), node.dtype)
                for at in range(lanes)
            ]
            array = np.array(found, numpy_dtype(node.dtype))
            few = Buffer("loaded", (Const(lanes, I64),), node.dtype.element)
            bindings[few] = array
            self.shown.setdefault(expr_text(node), found[0] if lanes == 1 else found)
            at = Const(0, I64)
            index = at if lanes == 1 else Ramp(at, Const(1, I64), I64.with_lanes(lanes))
            return Load(few, (index,), node.mask, node.dtype)

        plain = rewrite(expr, loaded, on=Load)
        return evaluate(plain, bindings)

    def memory_of(self, buffer: Buffer) -> ModelElements:
        """Return the elements of a buffer that a model gives."""
        function = self.translation.loaded(buffer)
        # Of a function that it says nothing of, a model gives an object without content.
        if function not in self.model.decls():
            return ModelElements({}, None)
        found = self.model[function]
        if not buffer.shape:  # Its one element is a constant of z3.
            return ModelElements({}, self._number(found, buffer.dtype))
        known: dict[tuple[int, ...], Any] = {}
        for at in range(found.num_entries()):
            entry = found.entry(at)
            places = [self._number(entry.arg_value(k), I64) for k in range(entry.num_args())]
            known[tuple(places)] = self._number(entry.value(), buffer.dtype)
        return ModelElements(known, self._number(found.else_value(), buffer.dtype))

    def at_lane(self, value: Any) -> Any:
        """Return the value in the lane that the model chose; a scalar is the same in each."""
        return value if np.ndim(value) == 0 else value[self._lane]

    def _element(self, buffer: Buffer, places: tuple[int, ...], dtype: DType) -> Any:
        translation = self.translation
        algebra = translation.algebra
        terms = [algebra.value(algebra.number(place, I64), I64) for place in places]
        found = self._number(translation.loaded(buffer)(*terms), dtype.element)
        self.elements.append((buffer, places, found))
        return found

    def _number(self, term: Any, dtype: DType) -> Any:
        found = self.model.eval(term, model_completion=True)
        if dtype.is_bool:
            return bool(self.translation.z3.is_true(found))
        if dtype.is_float:
            return number_of(found.as_long(), dtype)
        return self.translation.algebra.read(found, dtype)
