"""Excerpts of a text: the lines with problems, their context and the messages."""

from collections.abc import Sequence

CONTEXT = 3
MAX_PROBLEMS = 100
"""Problems that are looked for, and shown: nobody reads more."""


def annotate_source(text: str, problems: Sequence[tuple[int, str]], context: int = CONTEXT) -> str:
    """Return the lines with problems and their context, each followed by its messages.

    Problems at line 0 belong to no line and come first. Units: ``context`` is in lines to either
    side.
    """
    lines = text.splitlines()
    wrong: dict[int, list[str]] = {}
    for line, message in problems[:MAX_PROBLEMS]:
        wrong.setdefault(line, []).append(message)
    shown = {
        near
        for line in wrong
        for near in range(line - context, line + context + 1)
        if line and 0 < near <= len(lines)
    }
    made: list[str] = [f"      {message}" for message in wrong.get(0, ())]
    last = 0
    for number in sorted(shown):
        if last and number > last + 1:
            made.append("      ...")
        last = number
        made.append(f"{'>' if number in wrong else ' '}{number:5} {lines[number - 1]}")
        indent = len(lines[number - 1]) - len(lines[number - 1].lstrip())
        made.extend(f"       {' ' * indent}^ {message}" for message in wrong.get(number, ()))
    return "".join(f"{line}\n" for line in made)
