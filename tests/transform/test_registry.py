from importlib.metadata import EntryPoint

import pytest

from irkit.core import IRKitError, OptionError
from irkit.ir import PrimFunc
from irkit.transform import Registry, define_pass


@define_pass
def unroll_loops(func: PrimFunc, *, lanes: int = 4) -> PrimFunc:
    return func


@define_pass
def keep(func: PrimFunc) -> PrimFunc:
    return func


def clash() -> object:
    @define_pass
    def keep(func: PrimFunc) -> PrimFunc:
        return func

    return keep


HERE = f"{__name__}"


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "irkit.passes")


def test_passes_are_found_by_name_or_by_module_and_function() -> None:
    registry = Registry([unroll_loops]).with_passes(keep)
    assert registry.find("keep") is keep
    assert registry.find(f"{HERE}:keep") is keep
    assert list(registry) == [unroll_loops, keep]
    assert "keep" in registry
    assert len(registry) == 2
    assert registry.resolve("unroll-loops{lanes=8}") == unroll_loops.using(lanes=8)
    with pytest.raises(OptionError):
        registry.resolve("unroll-loops{lane=8}")


def test_an_unknown_name_lists_close_ones() -> None:
    registry = Registry([unroll_loops, keep])
    with pytest.raises(IRKitError, match="Did you mean 'unroll-loops'"):
        registry.find("unrol_loops")
    with pytest.raises(IRKitError, match="There are: keep, unroll-loops"):
        registry.find("zzzzzz")
    with pytest.raises(IRKitError, match="modules are not imported"):
        registry.find(f"{HERE}:keep", imports=False)


def test_two_passes_of_one_name_are_an_error_that_names_both_origins() -> None:
    with pytest.raises(IRKitError, match=r"named 'keep': .*:keep \(.*and .*<locals>"):
        Registry([keep, clash()])  # pyright: ignore -- the second is wrong on purpose
    assert len(Registry([keep, keep])) == 1


def test_entry_points_are_loaded_when_they_are_needed() -> None:
    registry = Registry([unroll_loops], [entry("keep", f"{HERE}:keep")])
    assert registry.find("keep") is keep
    broken = Registry([unroll_loops], [entry("x", "no_such_module_at_all:f")])
    assert broken.find("unroll-loops") is unroll_loops
    with pytest.raises(IRKitError, match=r"entry point 'x' \(no_such_module_at_all:f\)"):
        broken.find("keep")
    with pytest.raises(IRKitError, match="is not a pass"):
        list(Registry((), [entry("x", f"{HERE}:clash")]))
    with pytest.raises(IRKitError, match="named 'keep'"):
        list(Registry([clash()], [entry("keep", f"{HERE}:keep")]))  # pyright: ignore
    assert Registry([keep]).with_entry_points("irkit.no-such-group").find("keep") is keep
