""""""

import weakref

import pytest

from irkit.core import IRKitError, IRModule, Problem, Span
from irkit.ir import Evaluate, PrimFunc
from tests.core.node_programs import ONE


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
