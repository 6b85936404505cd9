"""Infer the type of one step from the types of its operands."""

from irkit.core import ShapeError, equal
from irkit.graph.arrays import ArrayData
from irkit.graph.nodes import (
    Apply,
    Body,
    Constant,
    GraphIf,
    GraphLoop,
    GraphStep,
    Invoke,
    Lambda,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.ops import op_spec, written
from irkit.graph.types import FuncType, TensorType, TupleType, Type
from irkit.ir import BOOL, I64, Const, Var, from_numpy


def array_type(data: ArrayData) -> TensorType:
    """Return the type of a constant array."""
    return TensorType(tuple(Const(extent, I64) for extent in data.shape), from_numpy(data.dtype))


def type_of(step: GraphStep) -> Type:
    """Infer the type of a step.

    Raises: ShapeError, DTypeError, OptionError or IRKitError if operands do not fit; AssertionError
    for ``Invoke`` and ``GraphLoop``, whose type only their module knows.
    """
    match step:
        case Op(name, args, attrs):
            return op_spec(name).infer([arg.type for arg in args], attrs)
        case Constant(data):
            return array_type(data)
        case Tuple(items):
            return TupleType(tuple(item.type for item in items))
        case TupleGet(value, index):
            return _item(value, index)
        case Apply(callee, args):
            return _applied(callee, args)
        case Lambda(params, body):
            return FuncType(tuple(param.type for param in params), body.result.type)
        case Body(_, result):
            return result.type
        case GraphIf(cond, then, otherwise):
            return _chosen(cond, then, otherwise)
        case Prefix(extent, value, count):
            return _shortened(extent, value, count)
        case Invoke() | GraphLoop():
            raise AssertionError("the type of a call by name is declared where it is bound")
        case _:
            raise AssertionError(f"no type rule for {type(step).__name__}")


def written_type(kind: Type) -> str:
    """Return a type as text for a message, abridged if it is deep or a long tuple."""
    return _written_type(kind, 3)


def _written_type(kind: Type, depth: int) -> str:
    if depth == 0:
        return "..."
    match kind:
        case TensorType(shape, dtype):
            return f"{dtype}{written(shape)}"
        case TupleType(items):
            shown = [_written_type(item, depth - 1) for item in items[:4]]
            return f"({', '.join([*shown, '...'] if len(items) > 4 else shown)})"
        case FuncType(params, result):
            whole = _written_type(TupleType(params), depth - 1)
            return f"{whole} -> {_written_type(result, depth - 1)}"
        case _:
            return type(kind).__name__


def _item(value: Value, index: int) -> Type:
    if not isinstance(value.type, TupleType):
        raise ShapeError(f"{value.name}[{index}]: {value.name} is not a tuple")
    if not 0 <= index < len(value.type.items):
        raise ShapeError(
            f"{value.name}[{index}]: expected 0 to {len(value.type.items) - 1} for a tuple of "
            f"{len(value.type.items)}"
        )
    return value.type.items[index]


def _shortened(extent: Var, value: Value, count: Value) -> Type:
    kind = value.type
    if count.type != TensorType((), I64):
        raise ShapeError(
            f"the number of rows {count.name} must be i64[()], found {written_type(count.type)}"
        )
    if not isinstance(kind, TensorType) or not kind.shape:
        raise ShapeError(f"{value.name} has no rows: it is {written_type(kind)}")
    return TensorType((extent, *kind.shape[1:]), kind.dtype)


def _applied(callee: Value, args: tuple[Value, ...]) -> Type:
    if not isinstance(callee.type, FuncType):
        raise ShapeError(f"{callee.name} is applied but is not a function")
    wanted = callee.type.params
    if len(wanted) != len(args):
        raise ShapeError(f"{callee.name} takes {len(wanted)} arguments, found {len(args)}")
    for position, (param, arg) in enumerate(zip(wanted, args, strict=True)):
        if not equal(param, arg.type):
            raise ShapeError(
                f"{callee.name}: argument {position} ({arg.name}) must be {written_type(param)}, "
                f"found {written_type(arg.type)}"
            )
    return callee.type.result


def _chosen(cond: Value, then: Body, otherwise: Body) -> Type:
    if cond.type != TensorType((), BOOL):
        raise ShapeError(
            f"the condition {cond.name} must be bool[], found {written_type(cond.type)}"
        )
    if not equal(then.result.type, otherwise.result.type):
        raise ShapeError(
            f"both sides of an if must have one type, found {written_type(then.result.type)} and "
            f"{written_type(otherwise.result.type)}"
        )
    return then.result.type
