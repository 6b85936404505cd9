"""Compare IR: ``equal`` over the same symbols, ``same`` up to renaming, and a matching hash.

All are iterative and visit a shared node once. Spans never count, nor do the names of symbols and
functions.
"""

import hashlib
import struct
from functools import cache
from typing import Any, cast

import msgspec

from irkit.core.module import Function, IRModule
from irkit.core.node import BINDERS, CHILDREN, PARTS, USES, Field, Node, fields

_PLAIN = (str, int, bool, bytes, type(None))


def equal(a: Node, b: Node) -> bool:
    """Return True if two trees have the same structure over the very same variables and buffers."""
    return a is b or _Comparison(renaming=False, closed=False).holds(a, b)


def same(a: Node | IRModule, b: Node | IRModule) -> bool:
    """Return True if two trees are equal up to renaming of the symbols introduced inside.

    Functions have no free symbols: the symbols of two functions are paired in order of appearance.
    In other trees, symbols introduced outside must be identical.
    """
    if a is b:
        return True
    if isinstance(a, IRModule) and isinstance(b, IRModule):
        return list(a) == list(b) and all(_same_trees(a[name], b[name]) for name in a)
    if not isinstance(a, Node) or not isinstance(b, Node):
        return False
    return _same_trees(a, b)


def _same_trees(a: Node, b: Node) -> bool:
    closed = isinstance(a, Function)
    return a is b or _Comparison(renaming=True, closed=closed).holds(a, b)


@cache
def compared_fields(cls: type[Node]) -> tuple[Field, ...]:
    """Return the fields that count when nodes are compared."""
    left_out = {"span"}
    if cls.symbol or issubclass(cls, Function):
        left_out.add("name")
    return tuple(field for field in fields(cls) if field.name not in left_out)


class _Comparison:
    """Comparison of two trees in step; ``there`` and ``back`` pair their symbols one to one."""

    def __init__(self, *, renaming: bool, closed: bool) -> None:
        self.renaming = renaming
        self.closed = closed
        self.there: dict[int, Node] = {}
        self.back: dict[int, Node] = {}
        self.stack: list[tuple[Node, Node]] = []

    def holds(self, a: Node, b: Node) -> bool:
        seen: set[tuple[int, int]] = set()
        self.stack.append((a, b))
        while self.stack:
            x, y = self.stack.pop()
            if x.symbol or y.symbol:
                if not self._used(x, y):
                    return False
                continue
            key = (id(x), id(y))
            if key not in seen:
                seen.add(key)
                if x.__class__ is not y.__class__ or not self._node(x, y):
                    return False
        return True

    def _node(self, x: Node, y: Node) -> bool:
        below: list[tuple[Node, Node]] = []
        for field in compared_fields(x.__class__):
            one, other = getattr(x, field.name), getattr(y, field.name)
            if field.kind == "data":
                if not same_data(one, other):
                    return False
                continue
            pairs = _pairs(one, other)
            if pairs is None:
                return False
            if field.kind == "child":
                below.extend(pairs)
            elif field.kind == "binder":
                if not all(self._bound(s, t, below) for s, t in pairs):
                    return False
            elif not all(self._used(s, t) for s, t in pairs):
                return False
        self.stack.extend(reversed(below))
        return True

    def _bound(self, s: Node, t: Node, below: list[tuple[Node, Node]]) -> bool:
        if not self.renaming:
            return s is t
        if id(s) in self.there or id(t) in self.back:
            return self.there.get(id(s)) is t and self.back.get(id(t)) is s
        return self._pair(s, t, below)

    def _pair(self, s: Node, t: Node, below: list[tuple[Node, Node]]) -> bool:
        if s.__class__ is not t.__class__:
            return False
        self.there[id(s)], self.back[id(t)] = t, s
        for field in compared_fields(s.__class__):
            one, other = getattr(s, field.name), getattr(t, field.name)
            if field.kind == "data":
                if not same_data(one, other):
                    return False
                continue
            pairs = _pairs(one, other)
            if pairs is None:
                return False
            below.extend(pairs)
        return True

    def _used(self, s: Node, t: Node) -> bool:
        if not self.renaming:
            return s is t
        if id(s) in self.there or id(t) in self.back:
            return self.there.get(id(s)) is t and self.back.get(id(t)) is s
        if self.closed:
            below: list[tuple[Node, Node]] = []
            done = self._pair(s, t, below)
            self.stack.extend(reversed(below))
            return done
        self.there[id(s)], self.back[id(t)] = t, s
        return s is t


def _pairs(one: Any, other: Any) -> list[tuple[Node, Node]] | None:
    """Pair the nodes of two fields, or return None if they cannot match."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        left, right = cast(tuple[Node, ...], one), cast(tuple[Node, ...], other)
        return list(zip(left, right, strict=True)) if len(left) == len(right) else None
    if one is None or other is None:
        return [] if one is other else None
    return [(one, other)] if isinstance(one, Node) and isinstance(other, Node) else None


def same_data(a: Any, b: Any) -> bool:
    """Return True if plain data agrees in type and value; floats are compared by their bits."""
    if a is b:
        return True
    if a.__class__ is not b.__class__:
        return False
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b)
    if isinstance(a, tuple):
        items, others = cast(tuple[Any, ...], a), cast(tuple[Any, ...], b)
        return len(items) == len(others) and all(map(same_data, items, others))
    return bool(a == b)


def structural_hash(root: Node | IRModule) -> str:
    """Return a hash, as 64 hexadecimal digits, that is equal for trees that are ``same``.

    It does not depend on the process. Free symbols of a tree that is not a function count by name.
    Data that is not plain must have a ``digest``.
    """
    digest = hashlib.sha256()
    if isinstance(root, IRModule):
        for name, function in root.functions.items():
            digest.update(f"{name!r} {structural_hash(function)}\n".encode())
    else:
        hashing = _Hashing(digest.update, isinstance(root, Function))
        digest.update(str(hashing.number(root)).encode())
    return digest.hexdigest()


class _Hashing:
    """Numbering of distinct structures, each hashed once, so that sharing makes no difference.

    Symbols are numbered where they are first met on the way down, which is where they are bound.
    """

    def __init__(self, write: Any, closed: bool) -> None:
        self.write = write
        self.closed = closed
        self.numbers: dict[tuple[Any, ...], int] = {}
        self.of_node: dict[int, int] = {}
        self.symbols: dict[int, int] = {}
        self.data: dict[int, str] = {}
        self.stack: list[tuple[Node, bool]] = []

    def number(self, root: Node) -> int:
        self.stack.append((root, False))
        while self.stack:
            node, below_done = self.stack.pop()
            if below_done:
                self.of_node[id(node)] = self._intern(node)
            elif id(node) not in self.of_node:
                self._enter(node)
        return self.of_node[id(root)]

    def _enter(self, node: Node) -> None:
        below: list[Node] = []
        if node.symbol:
            self._meet(node, bound=self.closed)
            below.extend(PARTS[node.__class__](node))
        else:
            for symbol in BINDERS[node.__class__](node):
                self._meet(symbol, bound=True)
                below.append(symbol)
            below.extend(USES[node.__class__](node))
            below.extend(CHILDREN[node.__class__](node))
        self.stack.append((node, True))
        self.stack.extend((child, False) for child in reversed(below))

    def _meet(self, symbol: Node, *, bound: bool) -> None:
        if id(symbol) in self.symbols:
            return
        at = self.symbols[id(symbol)] = len(self.symbols)
        known = f"symbol {at} {_class_name(symbol)}"
        if not bound:
            known += f" {getattr(symbol, 'name', '')!r}"
        for field in compared_fields(type(symbol)):
            if field.kind == "data":
                known += " " + self._data(getattr(symbol, field.name))
        self.write(f"{known}\n".encode())

    def _intern(self, node: Node) -> int:
        if node.symbol:
            parts = [self._seen(part) for part in PARTS[type(node)](node)]
            key: tuple[Any, ...] = ("symbol", self.symbols[id(node)], *parts)
        else:
            key = (_class_name(node), *self._fields(node))
        known = self.numbers.get(key)
        if known is None:
            known = self.numbers[key] = len(self.numbers)
            self.write(f"{key!r}\n".encode())
        return known

    def _seen(self, node: Node) -> int:
        return self.of_node[id(node)]

    def _fields(self, node: Node) -> list[Any]:
        found: list[Any] = []
        for field in compared_fields(type(node)):
            value = getattr(node, field.name)
            if field.kind == "data":
                found.append(self._data(value))
            else:
                found.append(tuple(self._seen(held) for held in _listed(value)))
                found.append(value is None)
        return found

    def _data(self, value: Any) -> str:
        if isinstance(value, msgspec.Struct):
            known = self.data.get(id(value))
            if known is None:
                known = self.data[id(value)] = _token(value)
            return known
        return _token(value)


def _class_name(node: Node) -> str:
    """Name a class by its folder, as trace files do, so that hashes do not depend on its module."""
    return f"{type(node).__module__.rpartition('.')[0]}.{type(node).__qualname__}"


def _listed(value: Any) -> tuple[Node, ...]:
    if value is None:
        return ()
    return cast(tuple[Node, ...], value) if isinstance(value, tuple) else (value,)


def _token(value: Any) -> str:
    """Write plain data so that only equal data has the same text."""
    if isinstance(value, float):
        return "f" + struct.pack("<d", value).hex()
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, tuple):
        return "(" + ",".join([_token(item) for item in cast(tuple[Any, ...], value)]) + ")"
    if isinstance(value, msgspec.Struct):
        held = [_token(getattr(value, name)) for name in value.__struct_fields__]
        return f"{type(value).__name__}({','.join(held)})"
    return f"{type(value).__name__}#{value.digest}"
