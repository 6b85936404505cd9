"""Accesses that are proved to stay inside, and those that are refuted with their indices."""

import pytest

from irkit.core import IRKitError
from irkit.debug import input_sets
from irkit.fuzz import KERNELS
from irkit.ir import OutOfBounds, PrimFunc, interpret, parse
from irkit.phases import DEFAULT
from irkit.proof import AccessBounds, check_bounds
from tests.proof.accesses.planted import planted

pytest.importorskip("z3")

FEW = ("BRANCHES", "SYMBOLIC_MATMUL", "THREAD_STENCIL", "TILE")
NOT_ALWAYS_INSIDE = {"STRIDED": "out of bounds", "BRANCHES": "depends on data"}


def kernel(name: str) -> PrimFunc:
    return parse(f"{KERNELS[name].strip()}\n")


def lowered(func: PrimFunc) -> PrimFunc:
    for step in DEFAULT.steps(func):
        assert isinstance(step.after, PrimFunc)
        func = step.after
    return func


def bounds(body: str, params: str) -> list[AccessBounds]:
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return list(check_bounds(parse(f"def f({params}):\n{lines}")))


def statuses(body: str, params: str = "A: f32[n], B: i32[n], C: f32[n], x: i64") -> set[str]:
    return {each.status for each in bounds(body, params)}


def check_kernel(name: str, func: PrimFunc) -> None:
    found = {each.status for each in check_bounds(func)}
    assert found == {"in bounds"} | {NOT_ALWAYS_INSIDE.get(name, "in bounds")}


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_every_access_of_a_kernel_is_proved(name: str) -> None:
    check_kernel(name, kernel(name))


@pytest.mark.parametrize("name", FEW)
def test_every_access_of_a_kernel_is_proved_after_lowering(name: str) -> None:
    check_kernel(name, lowered(kernel(name)))


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_every_access_of_any_kernel_is_proved_after_lowering(name: str) -> None:
    check_kernel(name, lowered(kernel(name)))


def leaves_its_buffer(func: PrimFunc) -> bool:
    for dims in ({}, {"n": 0}, {"n": 1, "m": 1}, {"m": 0}):
        try:
            sets = input_sets(func, dims=dims, samples=1)
        except IRKitError:
            continue
        for each in sets:
            try:
                interpret(func, *each.copied(), max_steps=200_000)
            except OutOfBounds:
                return True
            except IRKitError:
                continue
    return False


def check_planted(name: str, *, low: bool) -> tuple[int, int]:
    """Return how many faults were refuted, and how many a run shows to leave a buffer."""
    refuted = seen = 0
    func = lowered(kernel(name)) if low else kernel(name)
    for what, made in planted(func):
        known = {each.status for each in check_bounds(made)}
        refuted += "out of bounds" in known
        if leaves_its_buffer(made):
            seen += 1
            assert known & {"out of bounds", "depends on data"}, (name, what)
    return refuted, seen


@pytest.mark.parametrize("name", FEW)
def test_a_planted_fault_that_a_run_can_see_is_refuted(name: str) -> None:
    refuted, seen = check_planted(name, low=False)
    assert refuted > 0
    assert seen > 0


@pytest.mark.long
def test_planted_faults_of_all_kernels_are_refuted_at_both_ends_of_the_pipeline() -> None:
    found = [check_planted(name, low=low) for name in sorted(KERNELS) for low in (False, True)]
    assert sum([refuted for refuted, _ in found]) > 400
    assert sum([seen for _, seen in found]) > 200


def test_a_refutation_gives_sizes_and_indices_and_what_the_interpreter_says() -> None:
    (store,) = bounds("for i in serial(0, n):\n    C[i + 1] = f32(0.0)", "C: f32[n]")
    assert store.status == "out of bounds"
    assert store.how == "interpreter"
    assert store.message == "C[1] where n = 1, i = 0: C[1] is out of bounds: the shape is [1]"


def test_a_guard_over_loaded_memory_counts_until_that_memory_changes() -> None:
    guarded = """
for i in serial(0, n):
    if B[i] >= 0 and B[i] < n:
        {}C[B[i]] = f32(0.0)
"""
    assert statuses(guarded.format("")) == {"in bounds"}
    assert statuses(guarded.format("B[i] = 7\n        ")) == {"in bounds", "depends on data"}
    named = """
for i in serial(0, n):
    at: i32 = B[i]
    if at >= 0 and at < n:
        B[i] = 7
        C[at] = f32(0.0)
"""
    assert statuses(named) == {"in bounds"}


def test_a_load_is_guarded_by_the_conditions_of_its_expression() -> None:
    loop = "for i in serial(0, n):\n    C[i] = {}"
    assert statuses(loop.format("A[i - 1] if i >= 1 else f32(0.0)")) == {"in bounds"}
    assert "out of bounds" in statuses(loop.format("A[i - 1] if i >= 0 else f32(0.0)"))
    assert "out of bounds" in statuses(loop.format("select(i >= 1, A[i - 1], f32(0.0))"))


def test_a_scalar_parameter_can_be_anything_unless_it_is_checked() -> None:
    assert statuses("C[x] = f32(0.0)") == {"out of bounds"}
    checked = 'assert x >= 0 and x < n, "x"\nC[x] = f32(0.0)'
    assert statuses(checked) == {"in bounds"}


def test_an_index_that_overflows_counts_as_what_it_wraps_around_to() -> None:
    body = "for i in serial(0, n):\n    C[{}] = f32(0.0)"
    wide, narrow = "cast(i, i64) * 4 // 4", "cast(cast(i, i8), i64)"
    assert statuses(body.format(wide)) == {"in bounds"}
    found = bounds(body.format(narrow), "C: f32[n]")
    assert [each.status for each in found] == ["out of bounds"]
    assert found[0].message.startswith("C[-128] where n = 129, i = 128")
    product = bounds(body.format("i * 4611686018427387904 // 4611686018427387904"), "C: f32[n]")
    assert [each.status for each in product] == ["out of bounds"]


def test_symbolic_views_and_lanes_are_proved() -> None:
    body = """
F = view(A, f32[mul_sat(n, m)], offset={})
for i in serial(0, n):
    for j in serial(0, {}):
        F[ramp(i * m + j * 4, 1, 4)] = broadcast(f32(0.0), 4)
"""
    params = "A: f32[n, m]"
    assert {each.status for each in bounds(body.format(0, "m // 4"), params)} == {"in bounds"}
    for wrong in ((1, "m // 4"), (0, "(m + 3) // 4")):
        assert {each.status for each in bounds(body.format(*wrong), params)} >= {"out of bounds"}


def test_an_axis_must_stay_below_its_extent() -> None:
    body = """
for i in serial(0, {}):
    with block("C"):
        vi = axis.spatial(n, i)
        C[vi] = f32(0.0)
"""
    assert statuses(body.format("n")) == {"in bounds"}
    assert statuses(body.format("n + 1")) >= {"out of bounds"}


def test_an_index_from_memory_without_dimensions_depends_on_data() -> None:
    assert statuses("C[P[()]] = f32(0.0)", "P: i64[()], C: f32[n]") == {
        "in bounds",
        "depends on data",
    }
