"""A kernel under another name is the same code."""

import numpy as np
import pytest

from irkit.codegen import complete_target, emit
from irkit.core import IRKitError, Target
from irkit.ir import PrimFunc, parse
from irkit.runtime import can_rename, object_for, with_symbols
from irkit.runtime.object_loader.object_file import read_object_file

TARGET = complete_target(Target(opt_level=1))
TEXT = """
def first(x: f32[64], y: f32[64]):
    for i in parallel(0, 64):
        y[i] = exp(x[i])
"""


def image() -> bytes:
    func = parse(TEXT)
    assert isinstance(func, PrimFunc)
    return object_for(emit([func], TARGET), TARGET)


@pytest.mark.parametrize("name", ["second", "a much longer name, with ünusual characters", "f"])
def test_only_the_name_changes(name: str) -> None:
    before, after = (
        read_object_file(image()),
        read_object_file(with_symbols(image(), "first", name)),
    )
    assert [s.data for s in after.sections.values()] == [s.data for s in before.sections.values()]
    assert [(each.offset, each.kind, each.symbol) for each in after.relocations] == [
        (each.offset, each.kind, each.symbol) for each in before.relocations
    ]
    names = [each.name.replace("first", name) for each in before.symbols]
    assert [each.name for each in after.symbols] == names
    assert name in names


def test_other_formats_and_damage_are_refused() -> None:
    assert can_rename(image())
    assert not can_rename(b"MZ" + bytes(100))
    with pytest.raises(IRKitError, match="an object file is damaged"):
        with_symbols(b"MZ" + bytes(100), "a", "b")
    with pytest.raises(IRKitError, match="an object file is damaged"):
        with_symbols(image()[:80], "a", "b")
    assert np.frombuffer(image()[:4], np.uint8)[0] == 0x7F
