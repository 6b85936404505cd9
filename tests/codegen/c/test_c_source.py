"""C source, built by a compiler of this machine, computes what the interpreter computes."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings

import irkit
from irkit.codegen.c.source_file import emit_c
from irkit.core import IRKitError, Target
from irkit.fuzz import arguments, prim_funcs
from irkit.ir import (
    INTRINSICS,
    Compare,
    Not,
    PrimFunc,
    call,
    dtype as as_dtype,
    interpret,
    lt,
    parse,
    select,
)
from irkit.ir.expr import OPERATIONS, binary
from irkit.ir.math.polynomials import POLYNOMIALS
from irkit.phases import DEFAULT
from irkit.runtime import compile_functions
from tests.codegen.c.build import COMPILERS, CLibrary, needs_compiler
from tests.codegen.llvm.cases import both, crossed, elementwise, special

pytestmark = needs_compiler
F32, F64 = as_dtype("f32"), as_dtype("f64")
EXAMPLES = int(os.environ.get("IRKIT_EXAMPLES", "12"))
TYPES = [
    as_dtype(name) for name in ("bool", "i8", "u16", "i32", "u32", "i64", "f16", "bf16", "f32")
]
OTHERS = [as_dtype(name) for name in ("u8", "i16", "u64", "f64")]
# No fused operations, as C has none by default.
PLAIN = Target("llvm", features=("-fma", "-avx512f") if os.uname().machine == "x86_64" else ())


def drawn(count: int, number: int) -> list[PrimFunc]:
    funcs = list[PrimFunc]()

    @settings(max_examples=count, deadline=None, database=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @seed(number)
    @given(prim_funcs())
    def draw(func: PrimFunc) -> None:
        funcs.append(func.replace(name=f"f{len(funcs)}"))

    draw()
    return funcs


def outcome(run: Any, args: list[Any]) -> list[Any]:
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    try:
        with np.errstate(all="ignore"):
            run(*copies)
    except IRKitError as error:
        return [type(error)]
    return [arg for arg in copies if isinstance(arg, np.ndarray)]


@pytest.mark.parametrize("lowered", [False, True], ids=["as drawn", "lowered"])
def test_random_programs_give_what_the_interpreter_gives(lowered: bool, tmp_path: Path) -> None:
    funcs = drawn(EXAMPLES, 11 + lowered)
    if lowered:
        funcs = [DEFAULT.run(func) for func in funcs]
    # As in a model, whose parallel loops are functions.
    library = CLibrary(funcs, tmp_path, hosted=lowered)
    assert ("irkit_region0" in (tmp_path / "kernels.c").read_text()) == lowered
    for func in funcs:
        for number in (1, 2):
            args = arguments(func, seed=number)
            expected = outcome(lambda *a, f=func: interpret(f, *a), args)
            found = outcome(lambda *a, f=func: library.call(f, *a), args)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)


def cases(lanes: int, types: list[Any]) -> list[tuple[str, PrimFunc, list[Any]]]:
    """Return every operation on every type, at the values where they tend to go wrong."""
    made: list[tuple[str, PrimFunc, list[Any]]] = []

    def add(what: str, dtype: Any, arity: int, build: Any) -> None:
        inputs = crossed(special(dtype), arity, lanes)
        name = f"f{len(made)}"
        func = elementwise(name, [dtype] * arity, len(inputs[0]), build, lanes)
        made.append((f"{what} on {dtype}", func, inputs))

    for dtype in types:
        for cls, row in OPERATIONS.items():
            if dtype.kind in row.kinds or issubclass(cls, Compare):
                add(row.sign, dtype, 2, lambda a, b, c=cls: binary(c, a, b))
        for row in INTRINSICS.values():
            exact = row.on != "effect" and row.accepts(dtype) and row.ulps_in(dtype) <= 0.5
            if exact and row.arity < 3:
                add(row.name, dtype, row.arity, lambda *a, n=row.name: call(n, *a))
        for to in [*TYPES, *OTHERS]:
            add(f"to {to}", dtype, 1, lambda a, t=to: a.astype(t))
        if not dtype.is_float:
            add("not", dtype, 1, lambda a: Not(a, a.dtype))
        if not dtype.is_bool:
            add("-", dtype, 1, lambda a: -a)
        add("select", dtype, 2, lambda a, b: select(lt(a, b), b, a))
    return made


def disagree(lanes: int, types: list[Any], folder: Path, **options: Any) -> list[str]:
    found = cases(lanes, types)
    library = CLibrary([func for _, func, _ in found], folder, **options)
    wrong: list[str] = []
    for what, func, inputs in found:
        with np.errstate(all="ignore"):
            got, want = both(func, inputs, lambda *a, f=func: library.call(f, *a))
        if func.params[-1].dtype.is_float:
            got, want = got.astype("f8"), want.astype("f8")
        if not np.array_equal(got, want, equal_nan=got.dtype.kind == "f"):
            wrong.append(what)
    return wrong


@pytest.mark.parametrize("lanes", [1, 4])
def test_every_operation_is_exact_at_special_values(lanes: int, tmp_path: Path) -> None:
    assert disagree(lanes, TYPES[lanes > 1 :: 2], tmp_path, level="-O0") == []


@pytest.mark.long
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("lanes", [1, 4, 5, 16])
def test_every_operation_on_every_type_is_exact(lanes: int, compiler: str, tmp_path: Path) -> None:
    wrong = disagree(lanes, [*TYPES, *OTHERS], tmp_path, compiler=compiler, level="-O2")
    assert wrong == []


@pytest.mark.long
@pytest.mark.parametrize("compiler", COMPILERS)
def test_many_random_programs_build_by_every_compiler(compiler: str, tmp_path: Path) -> None:
    for number in range(5):
        funcs = drawn(200, 100 + number)
        if number % 2:
            funcs = [DEFAULT.run(func) for func in funcs]
        folder = tmp_path / f"{number}"
        folder.mkdir()
        hosted = number in (1, 2)
        library = CLibrary(funcs, folder, compiler=compiler, level="-O2", hosted=hosted)
        for func in funcs:
            args = arguments(func, seed=3)
            expected = outcome(lambda *a, f=func: interpret(f, *a), args)
            found = outcome(lambda *a, f=func, c=library: c.call(f, *a), args)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("lanes", [1, 8])
def test_math_functions_give_the_bits_that_llvm_gives(lanes: int, tmp_path: Path) -> None:
    bits = np.arange(0, 1 << 32, 2_097_143, dtype="u8").astype("u4").view("f4")
    ends = np.array([2.0**51, 2.0**77, 2.0**103, 9.125, 0.9375, 0.5, 89.0, -104.0, 1e-40], "f4")
    values = np.concatenate([bits, np.linspace(-100, 100, 401, dtype="f4"), special(F32), ends])
    values = np.concatenate([values, values[: -len(values) % 8]]).astype("f4")
    size = len(values)
    funcs: dict[str, PrimFunc] = {}
    for number, (name, _) in enumerate(POLYNOMIALS):
        kinds = [F32] * INTRINSICS[name].arity
        build = elementwise(f"f{number}", kinds, size, lambda *a, n=name: call(n, *a), lanes)
        funcs[name] = build
    assert_same_bits(funcs, values, tmp_path)


def assert_same_bits(funcs: dict[str, PrimFunc], values: Any, folder: Path) -> None:
    """Compare functions of the math library, by name, as C and as LLVM's code."""
    library, native = CLibrary(list(funcs.values()), folder), compile_functions(funcs, PLAIN)
    bits = f"u{values.itemsize}"
    for name, func in funcs.items():
        args = [values, values[::-1].copy()][: INTRINSICS[name].arity]
        got, want = np.zeros_like(values), np.zeros_like(values)
        library.call(func, *args, got)
        native[name](*args, want)
        same = (got.view(bits) == want.view(bits)) | (np.isnan(got) & np.isnan(want))
        assert same.all(), (name, args[0][~same][:4], got[~same][:4], want[~same][:4])


@pytest.mark.parametrize("lanes", [1, 8])
def test_math_functions_of_f64_do_too(lanes: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(8)
    wild = draw.integers(0, 1 << 64, 160, dtype="u8").view("f8")
    ends = [0.0, np.inf, 1.0, 2.0**20, 1e22, 1e300, 5e-324, 0.9375]
    values = np.concatenate([wild, draw.standard_normal(64) * 10, ends])
    names = [name for name, dtype in POLYNOMIALS if dtype == "f64"]
    funcs = {
        name: elementwise(f"f{number}", [F64] * INTRINSICS[name].arity, len(values),
                          lambda *a, n=name: call(n, *a), lanes)
        for number, name in enumerate(names)
    }  # fmt: skip
    assert_same_bits(funcs, values, tmp_path)


SCALE = """\
def scale(x: f32[8, 16], y: f32[8, 16]):
    for i in serial(0, 8):
        for j in vectorized(0, 16):
            y[i, j] = x[i, j] * f32(2.0)
"""


ACCESSES = """\
def accesses(x: f32[8, 16], n: i64[8], b: bool[16], y: f32[16, 8], c: bool[16], t: f32[8, 16]):
    for i in serial(0, 8):
        y[ramp(0, 1, 8), i] = x[ramp(0, 1, 8), 15 - i]
        y[ramp(8, 1, 8), broadcast(i, 8)] = x[i, ramp(14, -2, 8)]
        for j in serial(0, 2):
            held: boolx8 = b[ramp(j * 8, 1, 8)]
            c[ramp(j * 8, 1, 8)] = not held
            at: i64x8 = n[ramp(0, 1, 8)]
            t[i, ramp(j * 8, 1, 8)] = x[i, ramp(j * 8, 1, 8)] if held else x[at, broadcast(j, 8)]
"""


def test_accesses_of_every_form(tmp_path: Path) -> None:
    func = parse(ACCESSES)
    rng = np.random.default_rng(0)
    given = [rng.random((8, 16), "f4"), rng.permutation(8), rng.random(16) < 0.5]
    results: list[list[Any]] = []
    library = CLibrary([func], tmp_path, level="-O2")
    for run in (lambda *a: interpret(func, *a), lambda *a: library.call(func, *a)):
        out = [np.zeros((16, 8), "f4"), np.zeros(16, "?"), np.zeros((8, 16), "f4")]
        run(*given, *out)
        results.append(out)
    for got, want in zip(*results, strict=True):
        assert want.any()
        np.testing.assert_array_equal(got, want)


def test_a_kernel_for_c_gives_its_source_and_cannot_be_called(tmp_path: Path) -> None:
    func = parse(SCALE)
    kernel = irkit.build(func, target="c")
    source = kernel.source()
    assert "int32_t scale(const float *restrict x, float *restrict y)" in source
    assert source == irkit.build(func).source("c")
    assert "Build:  cc -std=c11" in source.split("*/")[0]
    with pytest.raises(IRKitError, match="is C source"):
        kernel(np.zeros((8, 16), "f4"), np.zeros((8, 16), "f4"))
    with pytest.raises(IRKitError, match="is C source"):
        kernel.object_files()


def test_lines_lead_to_the_text_of_the_ir(tmp_path: Path) -> None:
    kernel = irkit.build(parse(SCALE), target="c")
    source = kernel.source(lines=True)
    text = kernel.func.script().splitlines()
    numbers = [int(n) for n in re.findall(r'#line (\d+) "scale.irs"', source)]
    assert "#line" not in kernel.source()
    assert any("for i in serial" in text[n - 1] for n in numbers)
    assert any("= x_flat" in text[n - 1] for n in numbers)


NAMES = """\
@name("int")
def int_(exp: f32[4], lane: f32[4]):
    for k in serial(0, 4):
        lane[k] = exp[k]
"""


def test_names_that_c_takes_are_changed() -> None:
    source = emit_c([parse(NAMES)], Target("c"))
    assert "int32_t irkit_kernel_int_(const float *restrict exp_, float *restrict lane_)" in source


OPEN_ROWS = """
def rows(x: f32[n, m], y: f32[n, m]):
    for i in parallel(0, n, parallel_least=100):
        for j in serial(0, m):
            y[i, j] = x[i, j] + f32(1.0)
"""


def test_a_loop_with_little_work_is_no_parallel_one(tmp_path: Path) -> None:
    func = parse(OPEN_ROWS)
    library = CLibrary([func], tmp_path, level="-fopenmp")
    assert "#pragma omp parallel for if (" in (tmp_path / "kernels.c").read_text()
    for rows in (0, 1, 9, 60):
        x = np.arange(rows * 11, dtype=np.float32).reshape(rows, 11)
        y = np.zeros_like(x)
        library.call(func, x, y)
        assert np.array_equal(y, x + 1)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_vector_of_one_u64_has_lanes_of_that_type(compiler: str, tmp_path: Path) -> None:
    func = parse(
        "def f(A: u64[8], x: u64):\n    for i in serial(0, 4):\n"
        "        A[ramp(i * 2, 1, 2)] = A[ramp(i * 2, 1, 2)] + broadcast(x * (x & u64(5)), 2)\n"
    )
    library = CLibrary([func], tmp_path, compiler=compiler)
    found, wanted = np.arange(8, dtype="u8"), np.arange(8, dtype="u8")
    library.call(func, found, 2**63 + 7)
    interpret(func, wanted, 2**63 + 7)
    np.testing.assert_array_equal(found, wanted)


def test_ramps_of_every_integer_type_and_stride(tmp_path: Path) -> None:
    funcs = list[PrimFunc]()
    for each in (as_dtype(f"{sign}{bits}") for sign in "iu" for bits in (8, 16, 32, 64)):
        for stride in dict.fromkeys((0, 1, 3, each.high, each.low)):
            number = len(funcs)
            funcs.append(
                parse(
                    f"def f{number}(A: {each}[8], x: {each}):\n"
                    f"    A[ramp(0, 1, 4)] = ramp(x, {each}({stride}), 4)\n"
                    f"    A[ramp(4, 1, 3)] = ramp({each}(0), {each}({stride}), 3)\n"
                )
            )
    library = CLibrary(funcs, tmp_path)
    for func in funcs:
        kind = irkit.ir.numpy_dtype(func.params[0].dtype)
        found, wanted = np.zeros(8, kind), np.zeros(8, kind)
        library.call(func, found, 5)
        interpret(func, wanted, 5)
        np.testing.assert_array_equal(found, wanted, func.script())
