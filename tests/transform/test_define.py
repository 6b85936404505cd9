import pickle
from collections.abc import Callable
from typing import Literal

import pytest

from irkit.core import Function, IRKitError, IRModule, OptionError
from irkit.ir import PrimFunc
from irkit.transform import Pass, define_pass, load_pass
from tests.transform.loops import function, no_parallel, no_unrolled, with_kind


@define_pass(needs=(no_parallel,), gives=(no_unrolled,))
def unroll_loops(
    func: PrimFunc, *, lanes: int = 16, mode: Literal["all", "inner"] = "all", scale: float = 1.0
) -> PrimFunc:
    """Make loops serial.

    More text.
    """
    return with_kind(func, "serial") if lanes > 1 else func


@define_pass
def keep(module: IRModule) -> IRModule:
    return module


def test_a_pass_is_called_like_the_function_and_keeps_identity() -> None:
    func = function()
    assert unroll_loops(func).body.kind == "serial"
    assert unroll_loops(func, lanes=1) is func
    assert unroll_loops.using(lanes=1)(func) is func
    assert unroll_loops.using(lanes=1)(func, lanes=2) is not func


def test_a_pass_knows_its_name_options_facts_and_where_it_is_defined() -> None:
    p = unroll_loops.using(mode="inner", lanes=8)
    assert (p.name, str(p)) == ("unroll-loops", 'unroll-loops{lanes=8,mode="inner"}')
    assert str(unroll_loops) == "unroll-loops"
    assert dict(p.options) == {"lanes": 8, "mode": "inner"}
    assert dict(unroll_loops.options) == {}
    assert (p.needs, p.gives, p.breaks) == ((no_parallel,), (no_unrolled,), ())
    assert p.level is PrimFunc
    assert keep.level is IRModule
    assert keep.on_modules
    assert not p.on_modules
    assert p.doc.startswith("Make loops serial.\n")
    assert p.origin.path == f"{__name__}:unroll_loops"
    assert p.origin.file == __file__
    assert [option.name for option in p.parameters] == ["lanes", "mode", "scale"]


def test_options_are_checked_at_once_by_name_and_type() -> None:
    with pytest.raises(OptionError, match=r"no option 'lane'\n.*lanes: int = 16"):
        unroll_loops.using(lane=8)
    for wrong in ({"lanes": "8"}, {"lanes": True}, {"lanes": 1.5}, {"mode": "outer"}):
        with pytest.raises(OptionError, match="of pass 'unroll-loops' is"):
            unroll_loops.using(**wrong)
    with pytest.raises(OptionError):
        unroll_loops(function(), lanes="8")  # pyright: ignore
    assert unroll_loops.using(scale=2).options["scale"] == 2.0
    assert dict(unroll_loops.using(lanes=8).using(scale=2.0).options) == {"lanes": 8, "scale": 2.0}


def test_passes_with_equal_function_and_options_are_equal() -> None:
    assert unroll_loops.using(lanes=8) == unroll_loops.using(lanes=8)
    assert len({unroll_loops.using(lanes=8), unroll_loops.using(lanes=8), unroll_loops}) == 2


def test_a_pass_pickles_by_name_with_its_options() -> None:
    p = unroll_loops.using(lanes=8)
    data = pickle.dumps(p)
    assert len(data) < 200
    assert pickle.loads(data) == p


def test_a_pass_inside_a_function_is_refused_by_pickle() -> None:
    @define_pass
    def inner(func: PrimFunc) -> PrimFunc:
        return func

    with pytest.raises(IRKitError, match="defined inside a function"):
        pickle.dumps(inner)
    hidden: Pass[..., PrimFunc] = Pass(shadowed_function)
    with pytest.raises(IRKitError, match="names another object"):
        pickle.dumps(hidden)
    renamed: Pass[..., PrimFunc] = Pass(with_kind_serial)
    with pytest.raises(IRKitError, match="names another object"):
        pickle.dumps(renamed)


def _shadowed() -> Callable[[PrimFunc], PrimFunc]:
    def shadowed(func: PrimFunc) -> PrimFunc:
        return func

    shadowed.__qualname__ = "shadowed"
    return shadowed


shadowed_function = _shadowed()


@define_pass
def shadowed(func: PrimFunc) -> PrimFunc:
    return func


def with_kind_serial(func: PrimFunc) -> PrimFunc:
    return func


def test_a_pass_is_found_by_module_and_function() -> None:
    assert load_pass(f"{__name__}:unroll_loops", {"lanes": 2}) == unroll_loops.using(lanes=2)
    with pytest.raises(IRKitError, match="is not a pass"):
        load_pass(f"{__name__}:with_kind_serial")
    for missing in ("no_such_module_here:f", f"{__name__}:nothing", "x", ":", "a:"):
        with pytest.raises(IRKitError, match="cannot load pass"):
            load_pass(missing)
    with pytest.raises(IRKitError, match="Did you mean 'unroll_loops'"):
        load_pass(f"{__name__}:unrol_loops")


def test_a_pass_whose_file_has_moved_is_found_in_the_folder_it_was_in() -> None:
    assert load_pass(f"{__name__}.no_such_file:unroll_loops") is unroll_loops
    with pytest.raises(IRKitError, match=r"No module named 'tests\.transform\.no_such_file'"):
        load_pass("tests.transform.no_such_file:unroll_loops")


def test_a_function_without_the_form_of_a_pass_is_refused() -> None:
    def nothing() -> PrimFunc: ...  # pyright: ignore
    def untyped(func): ...  # pyright: ignore
    def wrong_class(func: int) -> int: ...  # pyright: ignore
    def other_result(func: PrimFunc) -> Function: ...  # pyright: ignore
    def positional(func: PrimFunc, lanes: int = 1) -> PrimFunc: ...  # pyright: ignore
    def no_default(func: PrimFunc, *, lanes: int) -> PrimFunc: ...  # pyright: ignore

    for function_, part in (
        (nothing, "must take the IR"),
        (untyped, "must be annotated"),
        (wrong_class, "expected a class of functions"),
        (other_result, "must return what it takes"),
        (positional, "keyword-only"),
        (no_default, "needs a type and a default"),
    ):
        with pytest.raises(IRKitError, match=part):
            define_pass(function_)  # pyright: ignore
    with pytest.raises(IRKitError, match="both gives and breaks"):
        define_pass(gives=(no_parallel,), breaks=(no_parallel,))(with_kind_serial)
