"""Find the type of one step from the types of its operands."""

from irkit.core import ShapeError
from irkit.graph.arrays import ArrayData, dtype_of
from irkit.graph.nodes import (
    Apply,
    Body,
    Constant,
    If,
    Invoke,
    Lambda,
    Op,
    Step,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.ops import op_spec
from irkit.graph.types import FuncType, TensorType, TupleType, Type
from irkit.ir import BOOL, I64, Const


def array_type(data: ArrayData) -> TensorType:
    """Tell the type of a constant array."""
    return TensorType(tuple(Const(extent, I64) for extent in data.shape), dtype_of(data.dtype))


def type_of(step: Step) -> Type:
    """Infer the type of a step.

    Raises: ShapeError, DTypeError, OptionError or IRKitError if operands do not fit; AssertionError
    for ``Invoke``, whose type only its module knows.
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
        case If(cond, then, otherwise):
            return _chosen(cond, then, otherwise)
        case Invoke():
            raise AssertionError("the type of an Invoke is declared where it is bound")
        case _:
            raise AssertionError(f"no type rule for {type(step).__name__}")


def _item(value: Value, index: int) -> Type:
    if not isinstance(value.type, TupleType):
        raise ShapeError(f"{value.name}[{index}]: {value.name} is no tuple")
    if not 0 <= index < len(value.type.items):
        raise ShapeError(
            f"{value.name}[{index}]: expected 0 to {len(value.type.items) - 1} for a tuple of "
            f"{len(value.type.items)}"
        )
    return value.type.items[index]


def _applied(callee: Value, args: tuple[Value, ...]) -> Type:
    if not isinstance(callee.type, FuncType):
        raise ShapeError(f"{callee.name} is applied but is no function")
    wanted = callee.type.params
    if len(wanted) != len(args):
        raise ShapeError(f"{callee.name} takes {len(wanted)} arguments, found {len(args)}")
    for position, (param, arg) in enumerate(zip(wanted, args, strict=True)):
        if param != arg.type:
            raise ShapeError(
                f"{callee.name}: argument {position} ({arg.name}) is not of the type declared"
            )
    return callee.type.result


def _chosen(cond: Value, then: Body, otherwise: Body) -> Type:
    if cond.type != TensorType((), BOOL):
        raise ShapeError(f"the condition {cond.name} must be a bool scalar")
    if then.result.type != otherwise.result.type:
        raise ShapeError(
            f"both sides of an if must have one type; {then.result.name} and "
            f"{otherwise.result.name} differ"
        )
    return then.result.type
