""""""

import pytest
from hypothesis import HealthCheck, given, settings

from irkit.core import (
    CHILDREN,
    STATEMENTS,
    Binds,
    Node,
    binders,
    children,
    fields,
    uses,
    walk,
    with_fields,
)
from irkit.core.node import HELD
from irkit.fuzz import prim_funcs
from irkit.ir import (
    F32,
    I64,
    Add,
    Block,
    Buffer,
    Call,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    Neg,
    PrimFunc,
    Store,
    Var,
)
from tests.core.node_programs import ONE
from tests.draws import few_or_all


def kinds(cls: type[Node]) -> dict[str, str]:
    return {field.name: field.kind for field in fields(cls)}


def test_the_field_table_is_read_from_the_annotations() -> None:
    assert kinds(For) == {
        "var": "binder", "begin": "child", "end": "child", "body": "child",
        "kind": "data", "thread": "data", "attrs": "data", "span": "data",
    }  # fmt: skip
    assert kinds(Load) == {"buffer": "use", "indices": "child", "mask": "child", "dtype": "data"}
    assert kinds(PrimFunc)["params"] == "binder"
    assert kinds(Buffer)["shape"] == kinds(Buffer)["strides"] == "child"
    assert [f.many for f in fields(PrimFunc) if f.name == "params"] == [True]
    assert [(f.many, f.optional) for f in fields(Block) if f.name == "reads"] == [(True, True)]


def test_children_come_in_field_order_and_leave_out_binders_uses_and_none() -> None:
    i, a = Var("i"), Buffer("A", (ONE,), F32)
    load = Load(a, (i, ONE), None, F32)
    loop = For(i, ONE, ONE, Evaluate(load))
    assert children(load) == (i, ONE)
    assert children(loop) == (loop.begin, loop.end, loop.body)
    assert binders(loop) == (i,)
    assert uses(load) == (a,)
    assert children(i) == binders(i) == uses(i) == children(a) == ()
    assert children(Call("exp", (ONE,), F32)) == (ONE,)
    assert children(If(ONE, loop)) == (ONE, loop)


def test_a_field_that_mixes_nodes_and_data_is_refused() -> None:
    class Mixed(Node, frozen=True):
        either: Expr | str

    class Both(Node, frozen=True):
        bound: Binds[Var]
        several: tuple[Var | Buffer, ...]

    with pytest.raises(AssertionError, match="mixes nodes and data"):
        fields(Mixed)
    assert kinds(Both) == {"bound": "binder", "several": "child"}


def test_replacing_by_the_same_gives_the_same_object() -> None:
    node = Add(ONE, ONE, I64)
    assert node.replace(a=ONE) is node
    assert node.replace(a=Var("x")) is not node
    assert with_fields(node, {}) is node
    assert with_fields(node, {id(ONE): node}).b is node  # pyright: ignore
    store = Store(Buffer("A", (ONE,), F32), (ONE,), ONE)
    assert with_fields(store, {id(store.buffer): ONE}) is store


def test_nodes_do_not_change() -> None:
    with pytest.raises(AttributeError):
        ONE.value = 2  # pyright: ignore


def test_the_repr_is_short_at_any_depth() -> None:
    root: Expr = ONE
    for _ in range(50_000):
        root = Neg(root, I64)
    assert repr(root) == "Neg(<Neg>, i64)"
    assert repr(Call("f", (ONE,) * 20, F32)).count("<Const>") == 8
    assert "<Var n>" in repr(Neg(Var("n"), I64))


def plainly_read(node: Node, chosen: tuple[str, ...]) -> tuple[Node, ...]:
    found: list[Node] = []
    for field in fields(type(node)):
        value = getattr(node, field.name)
        if (
            field.kind in chosen
            and value is not None
            and not (node.symbol and chosen == ("child",))
        ):
            found += value if field.many else [value]
    return tuple(found)


@settings(
    max_examples=few_or_all(12, 30),
    deadline=None,
    derandomize=True,
    suppress_health_check=[*HealthCheck],
)
@given(prim_funcs())
def test_the_fast_readers_list_what_the_field_table_says(func: PrimFunc) -> None:
    for node in walk(func):
        cls = type(node)
        assert CHILDREN[cls](node) == plainly_read(node, ("child",))
        assert HELD[cls](node) == plainly_read(node, ("child", "binder", "use"))
        below = tuple(child for child in children(node) if not child.expression)
        assert node.expression or STATEMENTS[cls](node) == below
