"""Read types and right-hand sides of graph text; ``ast`` parses each line."""

import ast
import re
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.graph.arrays import ArrayData
from irkit.graph.infer import array_type
from irkit.graph.nodes import (
    Apply,
    Constant,
    GraphLoop,
    GraphStep,
    Invoke,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.ops import OPS
from irkit.graph.types import FuncType, TensorType, TupleType, Type
from irkit.ir import DType, StmtReader, Var, as_int, float_from, numpy_dtype

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
Constants = Mapping[str, "ArrayData | NDArray[Any]"]


class StepReader(StmtReader):
    """Reader of single lines; names, attributes and dimensions are read as in loop IR."""

    def __init__(self, file: str, constants: Constants, absent: bool) -> None:
        super().__init__(file)
        self.values: dict[str, Value] = {}
        self.constants = constants
        self.absent = absent

    def type(self, node: ast.expr) -> Type:
        """Read a type: ``f32[n, 3]``, ``(f32[4], i64[()])``, ``func((f32[4],), f32[4])``."""
        if isinstance(node, ast.Tuple):
            return TupleType(tuple(self.type(item) for item in node.elts))
        if isinstance(node, ast.Call) and called_name(node) == "func":
            params, result = self.arguments(node, "func(types, type)")
            if not isinstance(params, ast.Tuple):
                raise self.error("expected a tuple of types", params)
            return FuncType(tuple(self.type(item) for item in params.elts), self.type(result))
        dtype, shape = self.layout(node)
        for extent in shape:
            if not extent.dtype.is_integer:
                raise self.error(f"an extent must be an integer, found {extent.dtype}", node)
            if (as_int(extent) or 0) < 0:
                raise self.error("an extent must not be negative", node)
        if dtype.lanes != 1:
            raise self.error(f"a tensor has scalar elements, found {dtype}", node)
        return TensorType(shape, dtype)

    def bind_dimensions(self, node: ast.expr, types: Mapping[str, DType]) -> list[str]:
        """Bind the unknown names that are whole dimensions of a type, and return them."""
        found: list[str] = []
        for name in _standing_alone(node):
            if name not in self.scope:
                made = Var(self.renamed.pop(name, name))
                self.scope[name] = made.replace(dtype=types[name]) if name in types else made
                found.append(name)
        return found

    def use(self, node: ast.expr) -> Value:
        """Read the name of a value."""
        if not isinstance(node, ast.Name):
            raise self.error(
                "expected the name of a value, as every step has a line of its own", node
            )
        found = self.values.get(node.id)
        if found is None:
            raise self.error(f"unknown value {node.id!r}", node)
        return found

    def step(self, node: ast.expr, declared: Type | None) -> GraphStep:
        """Read a right-hand side."""
        match node:
            case ast.Tuple(elts=items):
                return Tuple(tuple(self.use(item) for item in items))
            case ast.Subscript(value=value, slice=index):
                return TupleGet(self.use(value), self.integer(index))
            case ast.Call():
                return self._call(node, declared)
            case _:
                raise self.error(
                    "expected a step: an operator, a call, a constant, a tuple or an item", node
                )

    def _call(self, node: ast.Call, declared: Type | None) -> GraphStep:
        name = called_name(node)
        if name == "constant":
            return Constant(self._constant(node, declared))
        if name == "prefix" and len(node.args) == 2:
            return self._prefix(node, declared)
        if name == "loop" and node.args and isinstance(node.args[0], ast.Constant):
            return self._loop(node)
        if name in ("op", "call"):
            if not node.args:
                raise self.error(f'expected {name}("name", ...)', node)
            called, args = self.string(node.args[0]), self._values(node.args[1:])
            return Op(called, args, self.attrs(node)) if name == "op" else Invoke(called, args)
        if name in OPS:
            return Op(name, self._values(node.args), self.attrs(node))
        if node.keywords:
            raise self.error(f"unknown operator {name!r}", node)
        if name == "apply" and node.args:
            return Apply(self.use(node.args[0]), self._values(node.args[1:]))
        if name not in self.values:
            raise self.error(f"unknown operator or function {name!r}", node)
        return Apply(self.values[name], self._values(node.args))

    def _prefix(self, node: ast.Call, declared: Type | None) -> Prefix:
        extent = declared.shape[0] if isinstance(declared, TensorType) and declared.shape else None
        if not isinstance(extent, Var):
            raise self.error("the rows need a new dimension: y: f32[n, 3] = prefix(x, count)", node)
        return Prefix(extent, self.use(node.args[0]), self.use(node.args[1]))

    def _loop(self, node: ast.Call) -> GraphLoop:
        match node.args:
            case [function, count, cond, ast.Tuple(elts=state), ast.Tuple(elts=others)]:
                return GraphLoop(
                    self.string(function),
                    self.use(count),
                    self.use(cond),
                    self._values(state),
                    self._values(others),
                )
            case _:
                raise self.error(
                    'expected loop("function", count, cond, (state,), (others,))', node
                )

    def _values(self, nodes: list[ast.expr]) -> tuple[Value, ...]:
        return tuple(self.use(node) for node in nodes)

    def _constant(self, node: ast.Call, declared: Type | None) -> ArrayData:
        shape = _extents(declared)
        if not isinstance(declared, TensorType) or shape is None:
            raise self.error("a constant needs a type of constant shape: c: f32[2] = ...", node)
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        element = numpy_dtype(declared.dtype)
        match node.args, keywords:
            case [ast.List(elts=items)], {}:
                return ArrayData(self._elements(node, items, shape, declared.dtype))
            case [], {"bytes": text}:
                return ArrayData(self._bytes(text, shape, element))
            case [], {"digest": text}:
                return self._known(text, shape, declared)
            case _:
                raise self.error("expected constant([...]), constant(digest=...) or bytes=", node)

    def _elements(
        self, node: ast.Call, items: list[ast.expr], shape: tuple[int, ...], dtype: DType
    ) -> NDArray[Any]:
        count = prod(shape)
        if len(items) != count:
            raise self.error(f"expected {count} elements, found {len(items)}", node)
        numbers = [self._number(item, dtype) for item in items]
        return np.array(numbers).astype(numpy_dtype(dtype)).reshape(shape)

    def _number(self, node: ast.expr, dtype: DType) -> "int | float":
        number = self.like(node)
        if number is None and isinstance(node, ast.Constant) and isinstance(node.value, str):
            number = float_from(node.value)
        if number is None or (isinstance(number, float) and not dtype.is_float):
            raise self.error(f"expected an element of {dtype}", node)
        if not dtype.is_float and not dtype.low <= number <= dtype.high:
            raise self.error(f"{dtype} holds {dtype.low} to {dtype.high}", node)
        return float(number) if dtype.is_float else int(number)

    def _bytes(
        self, node: ast.expr, shape: tuple[int, ...], element: "np.dtype[Any]"
    ) -> NDArray[Any]:
        try:
            data = bytes.fromhex(self.string(node))
            if element.kind == "b" and max(data, default=0) > 1:
                raise self.error("a bool is 00 or 01", node)
            little = np.frombuffer(data, element.newbyteorder("<"))
            return little.astype(element).reshape(shape)
        except ValueError:
            wanted = prod(shape) * element.itemsize
            raise self.error(f"expected {wanted} bytes in hexadecimal", node) from None

    def _known(self, node: ast.expr, shape: tuple[int, ...], declared: TensorType) -> ArrayData:
        """Return the given large array of a digest."""
        digest = self.string(node)
        if not _DIGEST.match(digest):
            raise self.error("expected a digest of 64 hexadecimal digits", node)
        found = self.constants.get(digest)
        if found is None:
            if self.absent:
                return ArrayData.absent(digest, shape, numpy_dtype(declared.dtype))
            raise self.error(
                f"the data of constant {digest[:12]} is not in the text",
                node,
                "Give it: parse(text, constants={digest: array}), or read with absent=True.",
            )
        data = found if isinstance(found, ArrayData) else ArrayData(found)
        if data.digest != digest or array_type(data) != declared:
            raise self.error(f"the array given for {digest[:12]} has another digest", node)
        return data


def called_name(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _extents(kind: Type | None) -> tuple[int, ...] | None:
    if not isinstance(kind, TensorType):
        return None
    extents = [as_int(extent) for extent in kind.shape]
    return None if None in extents else tuple(extent or 0 for extent in extents)


def _standing_alone(node: ast.expr) -> list[str]:
    """Return the names that are whole dimensions, in text order."""
    found: list[str] = []
    stack = [node]
    while stack:
        match stack.pop():
            case ast.Subscript(slice=inner):
                dims = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                found += [dim.id for dim in dims if isinstance(dim, ast.Name)]
            case ast.Tuple(elts=items) | ast.Call(args=items):
                stack.extend(reversed(items))
            case _:
                pass
    return found
