"""TVM's dumps, as a reader of another package would read them."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from irkit.core import IRKitError
from irkit.inspector_web.dumps import readers
from tests.inspector_web.dumps.samples import SAMPLES, changed, steps_of, texts

SAMPLE = SAMPLES / "tvm-before-and-after-all.txt"
VALUE = "irkit.inspector_web.dumps.tvm_dump:TVM"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """The entry points that are found."""
    found: list[EntryPoint] = []

    def entry_points(group: str) -> list[EntryPoint]:
        return found

    monkeypatch.setattr(readers, "entry_points", entry_points)
    return found


def test_a_reader_of_an_installed_package_is_found(installed: list[EntryPoint]) -> None:
    assert readers.GROUP in Path("pyproject.toml").read_text()
    assert VALUE in Path("pyproject.toml").read_text()
    with pytest.raises(IRKitError, match="no dump that can be read"):
        readers.read_dump(SAMPLE)
    installed.append(EntryPoint("tvm", VALUE, readers.GROUP))
    # A pass of passes is listed after them, and what they did is not counted twice.
    assert changed(steps_of(SAMPLE)) == [
        ("LegalizeOps", ""), ("AnnotateTIROpPattern", ""), ("FuseOps", "")
    ]  # fmt: skip


def test_the_functions_of_a_module_are_parts_of_it(installed: list[EntryPoint]) -> None:
    installed.append(EntryPoint("tvm", VALUE, readers.GROUP))
    first = next(step for step in steps_of(SAMPLE) if step.changed)
    assert list(first.after) == ["(module)", "matmul", "relu", "main"]  # type: ignore[call-overload]
    assert texts(first)[1].split("\n")[6].startswith("@T.prim_func")


@pytest.mark.parametrize("value", ["nowhere:TVM", "irkit.inspector_web.dumps.readers:GROUP"])
def test_a_broken_entry_point_is_named(value: str, installed: list[EntryPoint]) -> None:
    installed.append(EntryPoint("bad", value, readers.GROUP))
    with pytest.raises(IRKitError, match=f"entry point 'bad' \\({value}\\)"):
        readers.read_dump(SAMPLE)
