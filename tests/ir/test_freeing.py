"""Expressions nested 100,000 deep can be freed: a mistake here kills the process."""

import subprocess
import sys
from typing import Any

import irkit.te  # Its expressions count too.
from irkit.core import fields
from irkit.ir import I64, Const, Expr, Var
from tests.depth import DEEPEST

assert irkit.te
ZERO = Const(0, I64)


def classes(cls: type[Expr]) -> list[type[Expr]]:
    """Return the concrete classes of expressions that hold expressions."""
    below = [each for sub in cls.__subclasses__() for each in classes(sub)]
    if below or not cls.__module__.startswith("irkit."):
        return below
    return [cls] if any(field.kind == "child" for field in fields(cls)) else []


CLASSES = {cls.__name__: cls for cls in classes(Expr)}


def free_deep() -> None:
    """Nest expressions of each class, and free them."""
    for name, cls in CLASSES.items():
        make: Any = cls
        sys.stderr.write(f"{name}\n")
        held = fields(cls)
        at = next(number for number, field in enumerate(held) if field.kind == "child")
        expr: object = ZERO
        before, after = [None] * at, [None] * (len(held) - at - 1)
        for _ in range(DEEPEST):
            expr = make(*before, (expr,) if held[at].many else expr, *after)
        del expr


def test_deep_expressions_are_freed() -> None:
    code = "from tests.ir.test_freeing import free_deep; free_deep()"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.split() == list(CLASSES)


def test_the_classes_are_known() -> None:
    assert {"Add", "Cast", "Load", "Select", "TensorRead", "Reduce"} <= CLASSES.keys()
    assert not CLASSES.keys() & {"Var", "Const", "Hole", "IterVar"}


def test_expressions_are_collected_only_where_freeing_needs_it() -> None:
    needed = sys.version_info >= (3, 14)
    assert all(cls.__struct_config__.gc == needed for cls in CLASSES.values())
    assert not Var.__struct_config__.gc
    assert not Const.__struct_config__.gc
