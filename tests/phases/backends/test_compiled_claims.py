"""Models with kernels of a backend: their code is called, checked, packaged, and refused."""

import ctypes.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, IRModule
from irkit.graph import Builder, Op, extents_of, hole, op, parse_module
from irkit.ir import interpret
from irkit.phases import (
    Backend,
    BackendClaim,
    ForeignCode,
    check_backend,
    claim_rule,
    define_backend,
    load_backend,
)
from irkit.runtime import build_library, c_compiler, run_tool, write_sources
from tests.codegen.c.build import needs_compiler

pytestmark = needs_compiler
X, Y = hole("x"), hole("y")
DENSE = """
def main(x: f32[4, 8], w: f32[8, 3]):
    c: f32[4, 3] = matmul(x, w)
    d: f32[4, 3] = exp(c)
    return d
"""
PRODUCT = """\
{declaration} {{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {{
            float sum = 0;
            for (int k = 0; k < {terms}; k++) sum += p0[i * 8 + k] * p1[k * 3 + j];
            matmul[i * 3 + j] = sum;
        }}
    return 0;
}}
"""


def dense(terms: int = 8, **more: Any) -> Backend:
    @define_backend(rules=(claim_rule("dense", op("matmul", X, Y)),))
    def mine(claim: BackendClaim) -> ForeignCode:
        return ForeignCode(c=PRODUCT.format(declaration=claim.declaration, terms=terms), **more)

    return mine


def elementwise(rule: str, pattern: Any, expression: str, head: str = "") -> Backend:
    """Return a backend that computes the last tensor of a kernel from the others."""

    @define_backend(rules=(claim_rule(rule, pattern),), name="mine")
    def generate(claim: BackendClaim) -> ForeignCode:
        count, names = str(extents_of(claim.function.body.result)[0]), claim.names
        if count == "None":  # The extent is known at the call, and comes last.
            *names, count = names
        *given, result = names
        body = expression.format(*(f"{name}[i]" for name in given))
        return ForeignCode(
            c=f"{head}\n{claim.declaration} {{ for (int64_t i = 0; i < {count}; i++) "
            f"{result}[i] = {body}; return 0; }}"
        )

    return generate


def run(model: Any, **inputs: Any) -> Any:
    (found,) = model.run(inputs).values()
    return found


def inputs_of_dense() -> dict[str, Any]:
    random = np.random.default_rng(1)
    return {
        "x": random.standard_normal((4, 8)).astype(np.float32),
        "w": random.standard_normal((8, 3)).astype(np.float32),
    }


def test_the_code_of_a_backend_is_what_runs() -> None:
    given = inputs_of_dense()
    model = irkit.compile(parse_module(DENSE), backends=(dense(),))
    np.testing.assert_allclose(run(model, **given), np.exp(given["x"] @ given["w"]), 1e-5)
    # Six of eight terms: it is really this code.
    short = irkit.compile(parse_module(DENSE), backends=(dense(terms=6),))
    wanted = np.exp(given["x"][:, :6] @ given["w"][:6])
    np.testing.assert_allclose(run(short, **given), wanted, 1e-5)


def test_products_of_constant_matrices_can_be_claimed_too() -> None:
    b = Builder()
    weights = np.arange(128, dtype=np.float32).reshape(8, 16)
    y = b.op("matmul", b.param("x", (4, 8)), b.constant(weights))
    module = IRModule({"main": b.finish(y)})

    @define_backend(rules=(claim_rule("dense", op("matmul", X, Y)),))
    def six_terms(claim: BackendClaim) -> ForeignCode:
        return ForeignCode(
            c=PRODUCT.replace("3", "16").format(declaration=claim.declaration, terms=6)
        )

    x = inputs_of_dense()["x"]
    found = run(irkit.compile(module, backends=(six_terms,)), x=x)
    np.testing.assert_allclose(found, x[:, :6] @ weights[:6], 1e-5, 1e-4)


def test_the_check_finds_code_that_is_wrong_or_writes_too_little() -> None:
    module = parse_module(DENSE)
    assert check_backend(module, dense()) == {"matmul": ""}
    (problem,) = check_backend(module, dense(terms=7)).values()
    assert "elements are wrong" in problem
    assert "matmul[" in problem

    @define_backend(rules=(claim_rule("dense", op("matmul", X, Y)),))
    def idle(claim: BackendClaim) -> ForeignCode:
        return ForeignCode(c=f"{claim.declaration} {{ return 0; }}")

    (problem,) = check_backend(module, idle).values()
    assert "= nan" in problem
    assert "12 of 12 elements are wrong" in problem


def test_a_package_keeps_the_code_and_names_its_libraries(tmp_path: Path) -> None:
    library = ctypes.util.find_library("m") or "libm.so.6"
    head = "float cbrtf(float);"
    backend = elementwise("root", op("exp", X), "cbrtf({0})", head)
    generate = backend.generate

    def importing(claim: BackendClaim) -> ForeignCode:
        return msgspec.structs.replace(generate(claim), imports={"cbrtf": library})

    backend.generate = importing
    module = parse_module("def main(x: f32[5]):\n    y: f32[5] = exp(x)\n    return y\n")
    model = irkit.compile(module, backends=(backend,))
    x = np.array([0, 1, 8, 27, 64], np.float32)
    np.testing.assert_allclose(run(model, x=x), [0, 1, 2, 3, 4], 1e-6)
    model.save(tmp_path / "root.irkit")
    np.testing.assert_allclose(run(irkit.load(tmp_path / "root.irkit"), x=x), [0, 1, 2, 3, 4], 1e-6)


def test_a_library_or_function_that_is_missing_is_named() -> None:
    module = parse_module(DENSE)
    with pytest.raises(IRKitError, match="calls 'f' of the library 'libnowhere"):
        irkit.compile(module, backends=(dense(imports={"f": "libnowhere.so.7"}),))
    library = ctypes.util.find_library("m") or "libm.so.6"
    with pytest.raises(IRKitError, match="has no function 'no_such_function'"):
        irkit.compile(module, backends=(dense(imports={"no_such_function": library}),))


def test_a_tensor_that_is_taken_twice_is_one_argument() -> None:
    module = parse_module("def main(x: f32[5]):\n    y: f32[5] = multiply(x, x)\n    return y\n")
    backend = elementwise("square", op("multiply", X, Y), "{0} * {0}")
    assert check_backend(module, backend) == {"multiply": ""}


def test_extents_that_are_open_come_behind_the_tensors() -> None:
    text = "def main(x: f32[n]):\n    y: f32[n] = relu(x)\n    return y\n"
    backend = elementwise("relu", op("relu", X), "{0} > 0 ? {0} : 0")
    assert check_backend(parse_module(text), backend) == {"relu": ""}
    model = irkit.compile(parse_module(text), backends=(backend,))
    for size in (0, 1, 7):
        x = np.linspace(-1, 1, size, dtype=np.float32)
        np.testing.assert_array_equal(run(model, x=x), np.maximum(x, 0))


GIVEN: list[tuple[Callable[[BackendClaim], Any], str]] = [
    (lambda claim: ForeignCode(c="int x;"), "gave C source without 'claimed_matmul'"),
    (lambda claim: ForeignCode(c=f"{claim.declaration} {{"), "does not compile"),
    (lambda claim: "source", "gave str; expected ForeignCode"),
    (lambda claim: 1 // 0, "failed: ZeroDivisionError"),
]


@pytest.mark.parametrize(("generate", "said"), GIVEN, ids=[said for _, said in GIVEN])
def test_what_a_backend_gives_wrong_names_it(generate: Any, said: str) -> None:
    backend = Backend(generate, "mine", (claim_rule("dense", op("matmul", X, Y)),))
    with pytest.raises(IRKitError) as error:
        irkit.compile(parse_module(DENSE), backends=(backend,))
    assert "backend 'mine', asked for 'dense' (matmul)," in str(error.value)
    assert said in str(error.value)


def test_an_object_file_that_is_damaged_is_refused() -> None:
    rules = (claim_rule("dense", op("matmul", X, Y)),)
    broken = Backend(lambda claim: ForeignCode(image=b"no object"), "mine", rules)
    with pytest.raises(IRKitError, match="cannot be linked"):
        irkit.compile(parse_module(DENSE), backends=(broken,))


def test_a_status_that_means_nothing_is_told() -> None:
    rules = (claim_rule("dense", op("matmul", X, Y)),)
    odd = Backend(
        lambda claim: ForeignCode(c=f"{claim.declaration} {{ return 7; }}"), "mine", rules
    )
    model = irkit.compile(parse_module(DENSE), backends=(odd,))
    with pytest.raises(IRKitError, match=r"kernel 'matmul', .* returned 7; expected 0, or -1"):
        model.run(inputs_of_dense())
    (problem,) = check_backend(parse_module(DENSE), odd).values()
    assert problem.startswith("matmul returned 7; expected 0, or -1 without memory, on ")


def test_c_source_has_the_source_of_backends(tmp_path: Path) -> None:
    model = irkit.compile(parse_module(DENSE), target="c", backends=(dense(),))
    given = inputs_of_dense()
    (expected,) = irkit.compile(parse_module(DENSE)).run(given).values()
    for kind in ("shared", "static", "object"):
        build_library(model, tmp_path / f"libdense.{kind}", kind, name="dense")
    (found,) = irkit.load_library(tmp_path / "libdense.shared").run(given).values()
    np.testing.assert_allclose(found, expected, 1e-5)
    made = write_sources(model, tmp_path / "sources", name="dense")
    assert "dense_claimed_matmul.c" in [path.name for path in made]
    cmake = (tmp_path / "sources" / "CMakeLists.txt").read_text()
    assert "add_library(dense dense.c dense_weights.c dense_claimed_matmul.c)\n" in cmake
    assert "PUBLIC m Threads::Threads)" in cmake


def test_the_library_links_what_the_source_of_a_backend_calls(tmp_path: Path) -> None:
    pattern, call = op("exp", X), "expf({}) + irkit_far()"
    (tmp_path / "far.c").write_text("float irkit_far(void) { return 2.0f; }\n")
    far = tmp_path / "libfar.so"
    run_tool([*c_compiler(), "-shared", "-fPIC", "-o", str(far), "far.c"], str(tmp_path))
    head = "#include <math.h>\nextern float irkit_far(void);"
    plain = elementwise("exp", pattern, call, head)

    def calling(claim: BackendClaim) -> ForeignCode:
        return msgspec.structs.replace(plain.generate(claim), imports={"irkit_far": str(far)})

    backend = Backend(calling, "mine", plain.rules)
    text = "def main(x: f32[4]):\n    y: f32[4] = exp(x)\n    return y\n"
    model = irkit.compile(parse_module(text), target="c", backends=(backend,))
    build_library(model, tmp_path / "libm.so", "shared", name="m")
    x = np.arange(4, dtype="f4")
    (found,) = irkit.load_library(tmp_path / "libm.so").run({"x": x}).values()
    np.testing.assert_allclose(found, np.exp(x) + 2, 1e-6)
    files = {path.name: path for path in write_sources(model, tmp_path / "m", name="m")}
    cmake = files["CMakeLists.txt"].read_text()
    assert f"Threads::Threads {far} -Wl,-rpath,{tmp_path})" in cmake


def test_c_source_takes_no_object_file_of_a_backend() -> None:
    rules = (claim_rule("dense", op("matmul", X, Y)),)
    made = Backend(lambda claim: ForeignCode(image=b"object"), "mine", rules)
    with pytest.raises(IRKitError, match="gave an object file; expected C source"):
        irkit.compile(parse_module(DENSE), target="c", backends=(made,))


def test_what_is_no_backend_is_named() -> None:
    with pytest.raises(IRKitError, match="is not a backend but a StructMeta"):
        load_backend("irkit.graph:Op")
    with pytest.raises(IRKitError, match="cannot load backend 'nowhere:x': ModuleNotFoundError"):
        load_backend("nowhere:x")
    with pytest.raises(IRKitError, match="has no rules"):
        define_backend(rules=(), name="mine")(lambda claim: ForeignCode())
    with pytest.raises(IRKitError, match="a backend has a name like 'blas'"):
        define_backend(rules=(claim_rule("d", op("matmul", X, Y)),))(lambda claim: ForeignCode())


def test_a_claim_shows_its_operators_and_the_loops_to_match() -> None:
    seen: list[BackendClaim] = []
    backend = dense()
    generate = backend.generate

    def noting(claim: BackendClaim) -> ForeignCode:
        seen.append(claim)
        return generate(claim)

    backend.generate = noting
    irkit.compile(parse_module(DENSE), backends=(backend,))
    (claim,) = seen
    assert [step.name for step in claim.operators] == ["matmul"]
    assert all(isinstance(step, Op) for step in claim.operators)
    assert claim.declaration == (
        "int32_t claimed_matmul(const float *restrict p0, const float *restrict p1, "
        "float *restrict matmul)"
    )
    x, w, y = (np.zeros(shape, np.float32) for shape in ((4, 8), (8, 3), (4, 3)))
    x[:], w[:] = inputs_of_dense()["x"], inputs_of_dense()["w"]
    interpret(claim.kernel, x, w, y)
    np.testing.assert_allclose(y, x @ w, 1e-5)
