"""The meanings of instructions that add products: each lane those of a few neighbours, or a tile
those of a row and a column."""

from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import call, cast, lt, select, seq
from irkit.ir.dtype import F16, F32, F64, I64, DType
from irkit.ir.expr import Const, Expr, Var, const
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Allocate, For, Let, Stmt, Store

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


def fused_meaning(lanes: int, *, one: bool = False) -> PrimFunc:
    """Return ``out[i] = acc[i] + a[i] * b[i]`` in f16, rounded once; with ``one``, all lanes take
    the same ``a``.

    In f64, the sum is near enough: only a sum of more than 53 bits is rounded there, and that is no
    tie in f16. Rounding it by way of f32 could make it one. So it is rounded to 21 bits, and what
    that took away moves the result a little to the side where the sum was.
    """
    params = _params(F16, F16, F16, lanes, 1, one)
    acc, first, second, out = params
    i = Var("i")
    terms = [_at(acc, i), _at(first, const(0, I64) if one else i), _at(second, i)]
    c, x, y = [cast(term, F64) for term in terms]
    total, few = Var("total", F64), Var("few", F64)
    far = total * const(2.0**32, F64)
    lost = total - few
    moved = few + call("sign", lost) * call("abs", total) * const(2.0**-23, F64)
    # Of an infinity and of NaN, ``lost`` is NaN.
    exact = select(lt(const(0.0, F64), call("abs", lost)), moved, total)
    rounded = Let(few, (total + far) - far, Store(out, (i,), cast(exact, F16)))
    return PrimFunc("meaning", params, _loop(i, lanes, Let(total, x * y + c, rounded)))


def tile_meaning(a: DType, b: DType, result: DType) -> PrimFunc:
    """Return the product of a tile of 16 rows of 64 bytes and one of 16 columns, which lie as
    groups of 4 bytes, added to 16 rows of 16 sums."""
    params = _tile_params(a, b, result)
    acc, first, second, out = params
    i, j, k, n = Var("i"), Var("j"), Var("k"), Var("n")
    at = i * 16 + j
    x, y = _at(first, i * 64 + k * 4 + n), _at(second, k * 64 + j * 4 + n)
    added = Store(out, (at,), _at(out, at) + cast(x, result) * cast(y, result))
    steps = seq(Store(out, (at,), _at(acc, at)), _loop(k, 16, _loop(n, 4, added)))
    return PrimFunc("meaning", params, _loop(i, 16, _loop(j, 16, steps)))


def flushing_tile_meaning(a: DType) -> PrimFunc:
    """Return the product of tiles of 16-bit floats: the sums of even and of odd neighbours apart,
    each product added by one rounding, then together; denormals are zeros of the same sign."""
    params = _tile_params(a, a, F32)
    acc, first, second, out = params
    i, j, k, n, start = Var("i"), Var("j"), Var("k"), Var("n"), Var("start")
    sums = _buffer("sums", 2, F32)
    x, y = _at(first, i * 32 + k * 2 + n), _at(second, k * 32 + j * 2 + n)
    product = call("fma", _flushed(cast(x, F32)), _flushed(cast(y, F32)), _at(sums, n))
    added = Store(sums, (n,), _flushed(product))
    both = _flushed(_at(sums, const(0, I64)) + _at(sums, const(1, I64)))
    at = i * 16 + j
    steps = seq(
        _loop(start, 2, Store(sums, (start,), const(0.0, F32))),
        _loop(k, 16, _loop(n, 2, added)),
        Store(out, (at,), _flushed(_flushed(_at(acc, at)) + both)),
    )
    body = _loop(i, 16, _loop(j, 16, steps))
    return PrimFunc("meaning", params, Allocate(sums, body))


def _tile_params(a: DType, b: DType, result: DType) -> tuple[Buffer, Buffer, Buffer, Buffer]:
    return (
        _buffer("acc", 256, result),
        _buffer("a", 1024 // a.bytes, a),
        _buffer("b", 1024 // b.bytes, b),
        _buffer("out", 256, result),
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
