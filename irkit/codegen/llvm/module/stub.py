"""The function that Python calls: it checks NumPy arrays by their fields, then calls the kernel.

It takes a ``PyObject *`` for each buffer, an i64 for each integer or bool, a double for each float
scalar, and the record of the call if the kernel needs one. It returns the status of the kernel, or
``-2 - n`` if parameter n is not as declared; the caller then finds the reason in Python. Nothing is
read or written before everything is checked. ``irkit.runtime.numpy_layout`` checks that the offsets
below fit this NumPy.
"""

import msgspec

from irkit.codegen.llvm.arithmetic.conversions import convert
from irkit.codegen.llvm.arithmetic.integer_ops import saturated_product
from irkit.codegen.llvm.builder.scope import FunctionScope
from irkit.codegen.llvm.builder.text import FunctionText, ModuleText
from irkit.codegen.llvm.builder.types import memory_type, quoted, symbol
from irkit.codegen.llvm.expressions.expressions import evaluate
from irkit.codegen.llvm.expressions.memory_access import as_i64, to_memory
from irkit.codegen.llvm.statements.assertion_record import record_size
from irkit.core import walk
from irkit.ir import (
    F64,
    I64,
    Buffer,
    DType,
    Expr,
    PrimFunc,
    Store,
    Var,
    View,
    as_int,
    shape_vars,
)

BAD_ARGUMENT = -2
# Offsets in a PyArrayObject, and in its PyArray_Descr.
TYPE, DATA, RANK, DIMS, STRIDES, DESCR, FLAGS = 8, 16, 24, 32, 40, 56, 64
BYTE_ORDER, TYPE_NUMBER = 26, 28
C_CONTIGUOUS, WRITEABLE = 0x1, 0x400
NDARRAY_SYMBOL, BF16_SYMBOL = "irkit.ndarray_type", "irkit.bf16_number"
# Numbers of NumPy's types on 64-bit Unix, where long and long long are both 64 bits wide.
NUMPY_NUMBERS = {
    "bool": (0,), "i8": (1,), "u8": (2,), "i16": (3,), "u16": (4,), "i32": (5,), "u32": (6,),
    "i64": (7, 9), "u64": (8, 10), "f16": (23,), "f32": (11,), "f64": (12,),
}  # fmt: skip


def array_fields() -> dict[str, tuple[int, str]]:
    """Return the fields of arrays and types that stubs read: offset, and code for ``struct``."""
    return {
        "type": (TYPE, "n"), "data": (DATA, "n"), "ndim": (RANK, "i"), "shape": (DIMS, "n"),
        "strides": (STRIDES, "n"), "dtype": (DESCR, "n"), "flags": (FLAGS, "i"),
        "byteorder": (BYTE_ORDER, "c"), "num": (TYPE_NUMBER, "i"),
    }  # fmt: skip


def stub_symbol(name: str) -> str:
    """Return the symbol of a function's stub."""
    return f"irkit.call.{name}"


def written_buffers(func: PrimFunc) -> set[Buffer]:
    """Return the buffers that a function stores to, including stores through views."""
    sources = {view.buffer: view.source for view in walk(func, View)}
    found: set[Buffer] = set()
    for node in walk(func, Store):
        buffer: Buffer | None = node.buffer
        while buffer is not None and buffer not in found:
            found.add(buffer)
            buffer = sources.get(buffer)
    return found


def scalar_type(dtype: DType) -> str:
    """Return the type in which the stub takes a scalar."""
    return "double" if dtype.is_float else "i64"


class _Array(msgspec.Struct):
    """Fields that the stub has read of one array."""

    buffer: Buffer
    fail: str
    data: str
    address: str
    dims: list[str]
    steps: list[str]
    written: bool


def emit_stub(module: ModuleText, func: PrimFunc) -> str:
    """Write the stub of a kernel."""
    text = FunctionText(module)
    scope = FunctionScope(text)
    outputs = written_buffers(func)
    params, arrays = list[str](), list[_Array]()
    for place, param in enumerate(func.params):
        name = f"%arg{place}"
        if isinstance(param, Var):
            params.append(f"{scalar_type(param.dtype)} {name}")
            source = F64 if param.dtype.is_float else I64
            scope.values[id(param)] = convert(text, source, param.dtype, name)
            continue
        params.append(f"ptr {name}")
        arrays.append(_checked(text, param, name, f"bad{place}", param in outputs))
    if record_size(func):
        params.append("ptr %record")
    _bind_shapes(scope, func, arrays)
    for array in arrays:
        _check_shape(scope, array)
    if dict(func.attrs).get("noalias") is not False:
        _check_overlap(text, arrays)
    _call_kernel(scope, func, arrays)
    for place, param in enumerate(func.params):
        if isinstance(param, Buffer):
            text.start(f"bad{place}")
            text.line(f"ret i32 {BAD_ARGUMENT - place}")
    name = quoted(stub_symbol(func.name))
    return f"define i32 {name}({', '.join(params)}) #0 {{\n{text.body()}\n}}"


def _field(text: FunctionText, kind: str, base: str, offset: int) -> str:
    at = text.op(f"getelementptr i8, ptr {base}, i64 {offset}")
    return text.op(f"load {kind}, ptr {at}")


def _require(text: FunctionText, cond: str, fail: str) -> None:
    """Continue only if a condition holds."""
    good = text.new_label("ok")
    text.line(f"br i1 {cond}, label %{good}, label %{fail}, !prof !1")
    text.start(good)


def _all(text: FunctionText, conds: list[str]) -> str:
    found = conds[0]
    for cond in conds[1:]:
        found = text.op(f"and i1 {found}, {cond}")
    return found


def _checked(text: FunctionText, buffer: Buffer, name: str, fail: str, is_output: bool) -> _Array:
    """Check what does not depend on other arrays, and read the rest."""
    module = text.module
    module.declare(NDARRAY_SYMBOL, f"@{NDARRAY_SYMBOL} = external global i8")
    kind = _field(text, "ptr", name, TYPE)
    _require(text, text.op(f"icmp eq ptr {kind}, @{NDARRAY_SYMBOL}"), fail)
    descr, rank = _field(text, "ptr", name, DESCR), _field(text, "i32", name, RANK)
    flags, order = _field(text, "i32", name, FLAGS), _field(text, "i8", descr, BYTE_ORDER)
    data = _field(text, "ptr", name, DATA)
    address = text.op(f"ptrtoint ptr {data} to i64")
    wanted = (0 if buffer.strides is not None else C_CONTIGUOUS) | (is_output and WRITEABLE)
    held = text.op(f"and i32 {flags}, {wanted}")
    align = max(buffer.dtype.bytes, buffer.align)
    low = text.op(f"and i64 {address}, {align - 1}")
    conds = [
        text.op(f"icmp eq i32 {rank}, {buffer.rank}"),
        text.op(f"icmp ne i8 {order}, {ord('>')}"),
        text.op(f"icmp eq i32 {held}, {wanted}"),
        text.op(f"icmp eq i64 {low}, 0"),
        _has_type(text, buffer.dtype, _field(text, "i32", descr, TYPE_NUMBER)),
    ]
    _require(text, _all(text, conds), fail)
    array = _Array(buffer, fail, data, address, [], [], is_output)
    if buffer.rank:
        dims = _field(text, "ptr", name, DIMS)
        array.dims = [_field(text, "i64", dims, 8 * axis) for axis in range(buffer.rank)]
        if buffer.strides is not None:
            steps = _field(text, "ptr", name, STRIDES)
            array.steps = [_field(text, "i64", steps, 8 * axis) for axis in range(buffer.rank)]
    return array


def _has_type(text: FunctionText, dtype: DType, number: str) -> str:
    if dtype.kind == "bf":  # Registered at run time: the symbol's address.
        text.module.declare(BF16_SYMBOL, f"@{BF16_SYMBOL} = external global i8")
        return text.op(f"icmp eq i32 {number}, ptrtoint (ptr @{BF16_SYMBOL} to i32)")
    conds = [text.op(f"icmp eq i32 {number}, {known}") for known in NUMPY_NUMBERS[str(dtype)]]
    return conds[0] if len(conds) == 1 else text.op(f"or i1 {conds[0]}, {conds[1]}")


def _bind_shapes(scope: FunctionScope, func: PrimFunc, arrays: list[_Array]) -> None:
    """Bind each shape variable to the first dimension or stride it stands for."""
    text = scope.text
    for var in shape_vars(func):
        value, fail = _first_place(scope, var, arrays)
        bound = convert(text, I64, var.dtype, value)
        if var.dtype.bits < 64:
            back = convert(text, var.dtype, I64, bound)
            _require(text, text.op(f"icmp eq i64 {back}, {value}"), fail)
        scope.values[id(var)] = bound


def _first_place(scope: FunctionScope, var: Var, arrays: list[_Array]) -> tuple[str, str]:
    for array in arrays:
        for dim, value in zip(array.buffer.shape, array.dims, strict=True):
            if dim is var:
                return value, array.fail
        for axis, step in enumerate(array.buffer.strides or ()):
            if step is var:
                return _stride_in_elements(scope.text, array, axis), array.fail
    raise AssertionError(f"{var.name} is a shape variable of no parameter")


def _stride_in_elements(text: FunctionText, array: _Array, axis: int) -> str:
    """Return the stride that a variable is bound to: of an empty array, whose strides mean nothing,
    that of one without gaps."""
    value, size = array.steps[axis], array.buffer.dtype.bytes
    rest = text.op(f"srem i64 {value}, {size}")
    whole = text.op(f"icmp eq i64 {rest}, 0")
    positive = text.op(f"icmp sge i64 {value}, 0")
    empty = _is_empty(text, array)
    given = text.op(f"and i1 {whole}, {positive}")
    _require(text, text.op(f"or i1 {given}, {empty}"), array.fail)
    packed = "1"
    for dim in array.dims[axis + 1 :]:
        packed = saturated_product(text, packed, text.intrinsic("smax", "i64", dim, "1"))
    step = text.op(f"sdiv i64 {value}, {size}")
    return text.op(f"select i1 {empty}, i64 {packed}, i64 {step}")


def _is_empty(text: FunctionText, array: _Array) -> str:
    found = "false"
    for dim in array.dims:
        found = text.op(f"or i1 {found}, {text.op(f'icmp eq i64 {dim}, 0')}")
    return found


def _check_shape(scope: FunctionScope, array: _Array) -> None:
    """Compare shape and strides with the declaration, now that all variables are bound."""
    text, conds = scope.text, list[str]()
    scope.begin_statement()
    for dim, value in zip(array.buffer.shape, array.dims, strict=True):
        conds.append(text.op(f"icmp eq i64 {value}, {_evaluated(scope, dim)}"))
    declared = array.buffer.strides or ()
    empty = _is_empty(text, array) if declared else ""
    for step, value, dim in zip(declared, array.steps, array.dims, strict=True) if declared else ():
        wanted = saturated_product(text, _evaluated(scope, step), str(array.buffer.dtype.bytes))
        same = text.op(f"icmp eq i64 {value}, {wanted}")
        positive = text.op(f"icmp sge i64 {value}, 0")
        fits = text.op(f"and i1 {same}, {positive}")
        # NumPy does not define the stride of a dimension of one element, nor those of an empty
        # array; they do not matter.
        alone = text.op(f"or i1 {empty}, {text.op(f'icmp ule i64 {dim}, 1')}")
        conds.append(text.op(f"or i1 {fits}, {alone}"))
    if conds:
        _require(text, _all(text, conds), array.fail)


def _evaluated(scope: FunctionScope, expr: Expr) -> str:
    known = as_int(expr)
    if known is not None:
        return str(known)
    evaluate(scope, expr)
    return as_i64(scope, expr)


def _check_overlap(text: FunctionText, arrays: list[_Array]) -> None:
    """Reject an output that shares memory with another array."""
    if not any(array.written for array in arrays) or len(arrays) < 2:
        return
    ranges = [_range(text, array) for array in arrays]
    for place, array in enumerate(arrays):
        for other in range(place):
            if not (array.written or arrays[other].written):
                continue
            (low, high), (start, stop) = ranges[place], ranges[other]
            before = text.op(f"icmp ule i64 {high}, {start}")
            after = text.op(f"icmp ule i64 {stop}, {low}")
            apart = text.op(f"or i1 {before}, {after}")
            _require(text, apart, array.fail)


def _range(text: FunctionText, array: _Array) -> tuple[str, str]:
    """Return the first address of an array and the one after its end; 0 and 0 if it is empty."""
    size = array.buffer.dtype.bytes
    low = high = array.address
    if array.buffer.strides is None:  # NumPy has no array of more than 2**63 bytes.
        count = str(size)
        for dim in array.dims:
            count = text.op(f"mul i64 {count}, {dim}")
        high = text.op(f"add i64 {low}, {count}")
    else:  # Strides that matter are not negative.
        for dim, step in zip(array.dims, array.steps, strict=True):
            reach = saturated_product(text, text.op(f"sub i64 {dim}, 1"), step)
            high = text.intrinsic(
                "uadd.sat", "i64", high, text.intrinsic("smax", "i64", reach, "0")
            )
        high = text.intrinsic("uadd.sat", "i64", high, str(size))
    empty = _is_empty(text, array)
    return tuple(text.op(f"select i1 {empty}, i64 0, i64 {end}") for end in (low, high))  # pyright: ignore[reportReturnType] -- two in, two out


def _call_kernel(scope: FunctionScope, func: PrimFunc, arrays: list[_Array]) -> None:
    text, args, left = scope.text, list[str](), iter(arrays)
    for param in func.params:
        if isinstance(param, Buffer):
            args.append(f"ptr {next(left).data}")
        else:
            value = to_memory(scope, param.dtype, scope.values[id(param)])
            args.append(f"{memory_type(param.dtype)} {value}")
    for var in shape_vars(func):
        args.append(f"i64 {convert(text, var.dtype, I64, scope.values[id(var)])}")
    text.module.declare(f"kernel {func.name}", kernel_declaration(func))
    if record_size(func):
        args.append("ptr %record")
    status = text.op(f"call i32 {quoted(symbol(func.name))}({', '.join(args)})")
    text.line(f"ret i32 {status}")


def kernel_declaration(func: PrimFunc) -> str:
    """Return the declaration of a kernel, for calls from another module."""
    kinds = ["ptr" if isinstance(p, Buffer) else memory_type(p.dtype) for p in func.params]
    kinds += ["i64"] * len(shape_vars(func)) + ["ptr"] * (record_size(func) > 0)
    return f"declare i32 {quoted(symbol(func.name))}({', '.join(kinds)})"
