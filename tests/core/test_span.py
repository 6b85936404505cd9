"""The place of the user's call: the first frame outside irkit."""

from typing import Any

import pytest

from irkit.core import Span, user_span


def span_when_called_by(module: str) -> Span:
    """Return what irkit finds where the third line of a module calls it."""
    inside: dict[str, Any] = {"__name__": "irkit.te.define", "user_span": user_span}
    exec(compile("def define():\n    return user_span('stage')", "define.py", "exec"), inside)
    caller: dict[str, Any] = {"__name__": module, "define": inside["define"]}
    exec(compile("\n\nfound = define()", "model.py", "exec"), caller)
    return caller["found"]


def test_the_users_call_is_found_behind_those_of_irkit() -> None:
    assert span_when_called_by("model") == Span("te", "stage", "model.py", 3)


@pytest.mark.parametrize("module", ["irkit.cli.compile", "irkit.processes.child_main"])
def test_what_calls_the_command_or_a_child_is_no_program_of_the_users(module: str) -> None:
    assert span_when_called_by(module) == Span("te", "stage")
