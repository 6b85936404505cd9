import pickle
import weakref

import pytest

from irkit.core import (
    Binds,
    DTypeError,
    FormatError,
    IRKitError,
    IRModule,
    Node,
    OptionError,
    Problem,
    Span,
    Target,
    as_target,
    binders,
    children,
    fields,
    uses,
    with_fields,
)
from irkit.ir import (
    F32,
    I64,
    Add,
    Block,
    Buffer,
    Call,
    Const,
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

ONE = Const(1, I64)


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


def test_the_shown_form_is_short_however_deep_the_node() -> None:
    root: Expr = ONE
    for _ in range(50_000):
        root = Neg(root, I64)
    assert repr(root) == "Neg(<Neg>, i64)"
    assert repr(Call("f", (ONE,) * 20, F32)).count("<Const>") == 8
    assert "<Var n>" in repr(Neg(Var("n"), I64))


def test_a_module_is_an_immutable_mapping() -> None:
    f = PrimFunc("f", (), Evaluate(ONE))
    module = IRModule({"f": f})
    assert module["f"] is f
    assert list(module) == ["f"]
    assert module.with_functions({"f": f}) is module
    assert module.with_functions({"g": None}) is module
    assert len(module.with_functions({"g": f})) == 2
    assert list(module.with_functions({"f": None, "h": f})) == ["h"]
    with pytest.raises(IRKitError, match="no function 'x'; it has: f"):
        module["x"]
    with pytest.raises(TypeError):
        module.functions["g"] = f  # pyright: ignore
    assert weakref.ref(module)() is module
    assert weakref.ref(f)() is f


def test_problems_and_spans_say_where() -> None:
    span = Span("text", file="a.irs", line=3, column=7, parent=Span("te", "B"))
    assert str(Problem("wrong", Evaluate(ONE, span=span))) == "a.irs:3:7: wrong"
    assert str(Problem("wrong", ONE)) == str(Problem("wrong")) == "wrong"
    assert [str(each) for each in span.chain()] == ["a.irs:3:7", "te B"]
    assert str(IRKitError("bad", hint="Mend it.", span=span)) == "a.irs:3:7: bad\n  Mend it."


@pytest.mark.parametrize("cls", [IRKitError, OptionError, DTypeError, FormatError])
def test_errors_go_to_another_process(cls: type[IRKitError]) -> None:
    error = cls("bad", hint="Mend it.", span=Span("text", line=3))
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is cls
    assert str(back) == str(error)
    assert (back.message, back.hint, back.span) == (error.message, error.hint, error.span)


def test_a_target_is_checked_data() -> None:
    assert as_target("llvm") == Target()
    assert Target(features="+avx2,-fma").features == ("+avx2", "-fma")  # pyright: ignore
    for wrong in ({"kind": "x"}, {"features": ("avx",)}, {"opt_level": 4}):
        with pytest.raises(IRKitError):
            Target(**wrong)  # pyright: ignore
