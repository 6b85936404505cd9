"""The meanings of dot product instructions: each lane adds the products of a few neighbours."""

from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import call, cast, lt, select, seq
from irkit.ir.dtype import F32, I64, DType
from irkit.ir.expr import Const, Expr, Var, const
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import For, Stmt, Store

_NORMAL = 2.0**-126


def dot_meaning(
    a: DType, b: DType, result: DType, lanes: int, group: int, *, one: bool = False
) -> PrimFunc:
    """Return ``out[i] = acc[i] + a[i, 0] * b[i, 0] + ...`` over groups of neighbours, computed in
    the type of the result; with ``one``, all lanes take the same group of ``a``."""
    params = _params(a, b, result, lanes, group, one)
    acc, first, second, out = params
    i, k = Var("i"), Var("k")
    place = i * group + k
    term = cast(_at(first, k if one else place), result) * cast(_at(second, place), result)
    body = seq(Store(out, (i,), _at(acc, i)), _loop(k, group, Store(out, (i,), _at(out, i) + term)))
    return PrimFunc("meaning", params, _loop(i, lanes, body))


def flushing_dot_meaning(a: DType, lanes: int, *, one: bool = False) -> PrimFunc:
    """Return the sum of two products of 16-bit floats in f32: the odd neighbour first, each product
    added by one rounding, and denormals taken and given as zeros of the same sign."""
    params = _params(a, a, F32, lanes, 2, one)
    acc, first, second, out = params
    i = Var("i")

    def added(so_far: Expr, k: int) -> Stmt:
        x = _flushed(cast(_at(first, const(k, I64) if one else i * 2 + k), F32))
        y = _flushed(cast(_at(second, i * 2 + k), F32))
        return Store(out, (i,), call("fma", x, y, _flushed(so_far)))

    steps = (added(_at(acc, i), 1), added(_at(out, i), 0))
    return PrimFunc(
        "meaning", params, _loop(i, lanes, seq(*steps, Store(out, (i,), _flushed(_at(out, i)))))
    )


def _params(
    a: DType, b: DType, result: DType, lanes: int, group: int, one: bool
) -> tuple[Buffer, Buffer, Buffer, Buffer]:
    return (
        _buffer("acc", lanes, result),
        _buffer("a", group if one else lanes * group, a),
        _buffer("b", lanes * group, b),
        _buffer("out", lanes, result),
    )


def _buffer(name: str, extent: int, dtype: DType) -> Buffer:
    return Buffer(name, (Const(extent, I64),), dtype)


def _at(buffer: Buffer, index: Expr) -> Expr:
    return Load(buffer, (index,), None, buffer.dtype)


def _loop(var: Var, extent: int, body: Stmt) -> Stmt:
    return For(var, Const(0, I64), Const(extent, I64), body)


def _flushed(x: Expr) -> Expr:
    return select(lt(call("abs", x), const(_NORMAL, F32)), x * const(0.0, F32), x)
