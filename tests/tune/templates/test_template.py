from pathlib import Path

import pytest

from irkit.core import IRKitError
from irkit.tune import load_template, task

KERNEL = """
from irkit import te, tune

@tune.template("mine.double")
def double(cfg, n):
    a = te.placeholder((n, n), name="A")
    c = te.compute((n, n), lambda i, j: a[i, j] * 2.0, name="C")
    s = te.create_schedule(c.op)
    cfg.define_split("x", s[c].axis[1], num_outputs=2)
    outer, inner = cfg["x"].apply(s, c, s[c].axis[1])
    s[c].unroll(inner)
    return s, [a, c]

def plain(n):
    a = te.placeholder((n,), name="A")
    return [a, te.compute((n,), lambda i: a[i] + 1.0, name="B")]

def nothing(n):
    return 3
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "kernel.py").write_text(KERNEL)
    return tmp_path / "kernel.py"


def test_a_template_is_found_by_file_and_name(kernel: Path) -> None:
    found = task(f"{kernel}:double", (12,))
    assert (found.name, found.template, found.args) == ("mine.double", "mine.double", (12,))
    (group,) = found.space.groups({})
    assert list(group.sketch("knobs").knobs) == ["x"]
    made = found.space.derive({"x": [-1, 4]})
    assert "range(" in made.func.script() or "unrolled(0, 4)" in made.func.script()


def test_a_function_without_knobs_is_a_task_of_rules(kernel: Path) -> None:
    found = task(f"{kernel}:plain", (3000,))
    assert (found.name, found.template, found.space.name) == ("plain", "", "rules")


@pytest.mark.parametrize(
    ("name", "message"),
    [("gone", "has no function 'gone'"), ("nothing", "returned a int")],
)
def test_what_is_no_template_is_refused(kernel: Path, name: str, message: str) -> None:
    with pytest.raises(IRKitError, match=message):
        task(f"{kernel}:{name}", (3,))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(IRKitError, match="there is no file"):
        load_template(f"{tmp_path}/gone.py:f")


def test_a_file_that_cannot_be_imported_says_why(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("raise ValueError('no')\n")
    with pytest.raises(IRKitError, match="ValueError: no"):
        load_template(f"{tmp_path}/bad.py:f")
