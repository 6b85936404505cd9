"""Buffers: shapes that no memory holds, and memory scopes that do not exist."""

from collections.abc import Callable

import pytest
from msgspec.structs import force_setattr

from irkit.core import IRKitError, ParseError, ScheduleError, ShapeError
from irkit.ir import I64, Allocate, Buffer, Const, Var, known_scopes, parse, seq, verify
from irkit.schedule import Schedule

FAR = 1 << 32
COPY = """def f(A: f32[8], C: f32[8]):
    T = alloc(f32[8])
    for i in serial(0, 8):
        with block("T"):
            v = axis.spatial(8, i)
            T[v] = A[v]
    for i in serial(0, 8):
        with block("C"):
            v = axis.spatial(8, i)
            C[v] = T[v]
"""


def numbers(*values: int) -> tuple[Const, ...]:
    return tuple(Const(value, I64) for value in values)


@pytest.mark.parametrize("shape", [(FAR, FAR), (1 << 61,), (0, FAR, FAR)])
def test_a_constant_shape_beyond_2_to_63_bytes_is_refused_at_once(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=r"buffer 'T' has \d+ elements of 4 bytes"):
        Buffer("T", numbers(*shape), "f32")


def test_the_known_part_of_a_symbolic_shape_counts() -> None:
    with pytest.raises(ShapeError):
        Buffer("T", (Var("n"), *numbers(FAR, FAR)), "u8")


def test_strides_that_lead_too_far_are_refused() -> None:
    with pytest.raises(ShapeError):
        Buffer("T", numbers(FAR, 2), "u8", strides=numbers(FAR, 1))
    Buffer("T", numbers(0, 2), "u8", strides=numbers(FAR, 1))


@pytest.mark.parametrize(("shape", "dtype"), [((1 << 60,), "f32"), ((0, 1 << 62), "u8")])
def test_the_largest_shapes_are_buffers(shape: tuple[int, ...], dtype: str) -> None:
    assert verify(parse(f"def f(A: {dtype}[{', '.join(map(str, shape))}]):\n    pass\n")) == []


def test_a_text_with_a_shape_that_is_too_large_names_the_line() -> None:
    with pytest.raises(ShapeError, match="<text>:2"):
        parse(f"def f(A: f32[8]):\n    T = alloc(f32[{FAR}, {FAR}])\n    T[0, 0] = A[0]\n")


def test_a_buffer_in_an_unknown_scope_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(IRKitError, match="no memory scope 'sharred'") as caught:
        Buffer("T", numbers(8), "f32", "sharred")
    assert caught.value.hint == "Did you mean 'shared'? There are: global, local, shared, warp."


def test_a_text_with_an_unknown_scope_names_line_and_column() -> None:
    text = 'def f(A: f32[8]):\n    T = alloc(f32[8], scope="sharred")\n    T[0] = A[0]\n'
    with pytest.raises(ParseError, match=r"<text>:2:29: there is no memory scope 'sharred'"):
        parse(text)
    with pytest.raises(ParseError, match=r"<text>:1:31: there is no memory scope ''"):
        parse('def f(A: buffer(f32[8], scope="")):\n    pass\n')


def test_the_verifier_reports_an_unknown_scope() -> None:
    buffer = Buffer("T", numbers(8), "f32")
    force_setattr(buffer, "scope", "localy")
    func = parse("def f(A: f32[8]):\n    pass\n")
    (problem,) = verify(func.replace(body=Allocate(buffer, seq())))
    assert "no memory scope 'localy'. Did you mean 'local'?" in problem.message


@pytest.mark.parametrize(
    "apply",
    [
        lambda s: s.set_scope(s.get_block("T"), "sharred"),
        lambda s: s.cache_read(s.get_block("T"), "A", "sharred"),
        lambda s: s.cache_write(s.get_block("T"), scope="sharred"),
        lambda s: s.stage_mem(s.get_loops(s.get_block("T"))[0], "A", "sharred"),
    ],
    ids=["set_scope", "cache_read", "cache_write", "stage_mem"],
)
def test_a_primitive_refuses_an_unknown_scope_and_changes_nothing(
    apply: Callable[[Schedule], object],
) -> None:
    sch = Schedule(parse(COPY))
    before = sch.func
    with pytest.raises(ScheduleError, match="no memory scope 'sharred'") as caught:
        apply(sch)
    assert "'shared'" in caught.value.hint
    assert sch.func is before


@pytest.mark.parametrize("scope", [row.name for row in known_scopes()])
def test_every_scope_of_the_table_is_read_and_printed(scope: str) -> None:
    sch = Schedule(parse(COPY))
    sch.set_scope(sch.get_block("T"), scope)
    assert verify(sch.func) == []
