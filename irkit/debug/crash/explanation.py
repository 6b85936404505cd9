"""Explanation of a failed pass: the problems, their lines of IR, and what the pass changed."""

import difflib
from collections.abc import Iterable

from irkit.core import Function, IRModule, Level, Names, Problem, annotate_source
from irkit.debug.crash.limits import MAX_DIFF_LINES
from irkit.debug.report.line_table import NodeLines
from irkit.transform import IR, PassFailed, functions_of, script_of


def explain(error: PassFailed, *, most: int = 60) -> str:
    """Return the problems with their lines marked, then the diff; ``most`` lines of each."""
    parts = [_cut(marked_problems(error), most), _cut(failed_diff(error), most)]
    return "\n".join(part for part in parts if part)


def marked_problems(error: PassFailed) -> str:
    """Return the lines of IR that have problems, marked, with the lines around them."""
    level, shown = _level(error), _broken(error)
    if not error.problems or level is None or shown is None:
        return ""
    try:
        text = script_of(level, shown)
        found = problem_lines(level, shown, error.problems)
    except Exception:  # Invalid IR may not even print.
        return ""
    return annotate_source(text, found)


def problem_lines(level: Level, ir: IR, problems: Iterable[Problem]) -> list[tuple[int, str]]:
    """Return the line of each problem in the printed IR, or 0 if it is unknown."""
    tables: list[tuple[int, NodeLines]] = []
    start = 0
    for func in functions_of(ir):
        tables.append((start, NodeLines(level, func)))
        start += func.script().count("\n") + 1
    found: list[tuple[int, str]] = []
    for problem in problems:
        line = 0
        for offset, lines in tables if problem.node is not None else ():
            at = lines.of(problem.node) if problem.node is not None else 0
            if at:
                line = offset + at
                break
        found.append((line, problem.message))
    return found


def failed_diff(error: PassFailed) -> str:
    """Return what the pass changed as a unified diff; nothing if it returned no IR."""
    level, after = _level(error), error.after
    if level is None or not isinstance(after, (Function, IRModule)) or after is error.before:
        return ""
    try:
        names = Names()  # One table, so that unchanged symbols have the same name in both.
        before_text = script_of(level, error.before, names)
        after_text = script_of(level, after, names)
    except Exception:  # As above.
        return ""
    return text_diff(before_text, after_text)


def text_diff(before: str, after: str) -> str:
    """Return a unified diff of two texts of bounded size."""
    sides = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(map(len, sides)) > MAX_DIFF_LINES:
        return f"(the IR has more than {MAX_DIFF_LINES} lines: no diff)\n"
    return "".join(difflib.unified_diff(*sides, "before", "after"))


def _level(error: PassFailed) -> Level | None:
    return None if error.attempt is None else error.attempt.level


def _broken(error: PassFailed) -> IR | None:
    after = error.after
    return after if isinstance(after, (Function, IRModule)) else None


def _cut(text: str, most: int) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) <= most:
        return text
    return "".join(lines[:most]) + f"(and {len(lines) - most} more lines)\n"
