"""Read a signature: buffers, scalars, and the variables that are whole dimensions."""

import ast
from typing import NamedTuple

from irkit.core import ALIAS
from irkit.ir.buffer import Buffer
from irkit.ir.dtype import I64, DType
from irkit.ir.expr import Var
from irkit.ir.text.part_reader import word_of
from irkit.ir.text.stmt_reader import StmtReader


class ParsedParam(NamedTuple):
    """One parameter as written; only parts of long expressions have a ``value``."""

    arg: ast.arg
    value: ast.expr | None
    at: tuple[int, str, int]


def read_params(
    reader: StmtReader, params: list[ParsedParam], types: dict[str, DType]
) -> tuple[Buffer | Var, ...]:
    """Bind the scalars, then the dimensions, and then make the buffers, which can use either."""
    made: dict[str, Buffer | Var] = {}
    _check_names(reader, params)
    for param in params:
        _at(reader, param)
        if param.value is None and isinstance(param.arg.annotation, ast.Name):
            _bind(reader, param, Var(_original(reader, param), _scalar(reader, param)), made)
    for param in params:
        _at(reader, param)
        for name in _dimensions(param):
            if name not in reader.scope and not ALIAS.match(name):
                original = reader.renamed.pop(name, name)
                reader.scope[name] = Var(original, types.get(name, I64))
    for param in params:
        _at(reader, param)
        if param.value is not None:
            reader.scope[param.arg.arg] = reader.expr(param.value)
        elif param.arg.arg not in made:
            _bind(reader, param, _buffer(reader, param), made)
    order = [param.arg.arg for param in params if param.value is None]
    return tuple(made[name] for name in order)


def _check_names(reader: StmtReader, params: list[ParsedParam]) -> None:
    seen: set[str] = set()
    for param in params:
        name = param.arg.arg
        if name in seen or (param.value is None and ALIAS.match(name)):
            _at(reader, param)
            raise reader.error(f"the name {name!r} is taken; expected another one", param.arg)
        seen.add(name)


def _at(reader: StmtReader, param: ParsedParam) -> None:
    """Make errors point at a parameter."""
    reader.line, reader.source, reader.start = param.at


def _original(reader: StmtReader, param: ParsedParam) -> str:
    return reader.renamed.pop(param.arg.arg, param.arg.arg)


def _scalar(reader: StmtReader, param: ParsedParam) -> DType:
    assert param.arg.annotation is not None
    return reader.dtype_of(param.arg.annotation)


def _bind(
    reader: StmtReader, param: ParsedParam, symbol: Buffer | Var, made: dict[str, Buffer | Var]
) -> None:
    name = param.arg.arg
    if name in reader.scope or name in made or ALIAS.match(name):
        raise reader.error(f"the name {name!r} is taken; expected another one", param.arg)
    reader.scope[name] = made[name] = symbol


def _layout(param: ParsedParam) -> tuple[ast.expr | None, ast.Call | None]:
    """Return ``f32[8]``, both from ``f32[8]`` and from ``buffer(f32[8], ...)``, and the call if
    any."""
    kind = param.arg.annotation
    if isinstance(kind, ast.Call) and word_of(kind) == "buffer" and len(kind.args) == 1:
        return kind.args[0], kind
    return kind, None


def _buffer(reader: StmtReader, param: ParsedParam) -> Buffer:
    layout, call = _layout(param)
    if not isinstance(layout, ast.Subscript):
        raise reader.error(
            "expected a type such as f32, f32[m, n] or buffer(f32[8], scope=...)", param.arg
        )
    if call is None:
        call = ast.Call(func=layout, args=[], keywords=[])
    for keyword in call.keywords:
        if keyword.arg not in ("strides", "scope", "align"):
            raise reader.error("a buffer has strides, scope and align", param.arg)
    return reader.buffer_of(call, layout)(_original(reader, param))


def _dimensions(param: ParsedParam) -> list[str]:
    """Return the names that are whole dimensions or strides."""
    layout, call = _layout(param)
    dims = list[ast.expr]()
    if isinstance(layout, ast.Subscript):
        dims += layout.slice.elts if isinstance(layout.slice, ast.Tuple) else [layout.slice]
    for keyword in call.keywords if call is not None else ():
        if keyword.arg == "strides" and isinstance(keyword.value, ast.Tuple):
            dims += keyword.value.elts
    return [dim.id for dim in dims if isinstance(dim, ast.Name)]
