import pytest

from irkit import te
from irkit.core import IRKitError
from irkit.ir import parse
from irkit.tune import hash_of, task
from tests.tune.programs import product


def test_a_task_is_known_by_its_loops_and_not_by_its_name() -> None:
    func = product(8, 16, 4)
    assert task(func).hash == task(func.replace(name="other"), name="x").hash
    assert task(func).hash != task(product(8, 16, 5)).hash


def test_tensors_make_a_task() -> None:
    a = te.placeholder((8, 9), name="A")
    found = task([a, te.compute((8, 9), lambda i, j: a[i, j] + 1.0, name="B")])
    assert found.space.name == "rules"
    assert found.flop == 72


def test_the_line_of_a_task_has_its_loops_as_text() -> None:
    found = task(product(8, 16, 4))
    assert hash_of(parse(found.line().loops)) == found.hash


def test_what_cannot_be_tuned_is_refused() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    with pytest.raises(IRKitError, match="not constant"):
        task([a, te.compute((n,), lambda i: a[i], name="B")])
    scheduled = task(product(8, 16, 4)).space.derive({}).func
    with pytest.raises(IRKitError, match="scheduled already"):
        task(scheduled)
