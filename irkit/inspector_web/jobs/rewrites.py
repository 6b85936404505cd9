"""The rewrites of one pass, one by one: what each changed, by which rule, and where that stands.

The pass runs again in a child, once for each state that is shown. A pass with very many rewrites
has states that stand for several, which a further request takes apart.
"""

import linecache
import os
import time
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from irkit.core import Application, Function, InputError, IRKitError, Names, Node, Span, walk
from irkit.debug import RewriteState, RewriteStates
from irkit.inspector_web.api.diff_page import PageRow, page_row
from irkit.inspector_web.diff.line_diff import diff_lines
from irkit.inspector_web.diff.rows import side_by_side
from irkit.inspector_web.jobs.chosen_steps import (
    RUN_JOB_LIMITS,
    ChosenSteps,
    choose_steps,
    keep_result,
)
from irkit.inspector_web.jobs.guilty_pass import pass_of
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.runs.run import LEVELS, Source
from irkit.inspector_web.runs.workspace import Workspace
from irkit.inspector_web.text.highlight import Highlighter, SentLines
from irkit.inspector_web.text.lines import Ids, LineTable
from irkit.inspector_web.text.texts import functions_in
from irkit.transform import IR, Trace

MOST_STATES = 60
MOST_LISTED = 12
"""Rewrites of one state that are listed."""
MOST_LINES = 400_000
"""Limit of the lines of all texts together."""
SECONDS = 20.0
LONGEST_CODE = 160


class RewriteInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rewrite: its number in the pass, from 1, its rule, where that is written (the name of a
    file, never its path), the line there, and what the pass remarked on it."""

    number: int
    rule: str
    place: str = ""
    code: str = ""
    remark: str = ""


class RewriteStateInfo(msgspec.Struct, frozen=True):
    """The difference that rewrites ``first`` to ``last`` made; the text after state ``i``, from 0,
    is ``texts[i + 1]``. At most ``MOST_LISTED`` rewrites are listed."""

    first: int
    last: int
    rewrites: tuple[RewriteInfo, ...]
    rules: tuple[str, ...]
    added: int
    removed: int
    changes: int
    rows: list[PageRow]


class RewriteSteps(msgspec.Struct, frozen=True):
    """The rewrites of a step, ``of`` in all. ``texts`` are indices into ``html``, each as the
    difference from the one before. ``note`` says why there are none, or not all."""

    step: int
    of: int
    html: list[str] = []
    texts: list[list[int]] = []
    states: list[RewriteStateInfo] = []
    note: str = ""


class RewritesRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request for the rewrites of a step, all of them or from ``first`` to ``last``, from 1."""

    run: int
    step: int
    first: int = 0
    last: int = 0


class ChosenRewrites(msgspec.Struct, frozen=True):
    """The step whose rewrites are asked for, and the names that its program is printed with."""

    chosen: ChosenSteps
    names: dict[str, list[str]]
    first: int
    last: int


def _find(workspace: Workspace, asked: RewritesRequest) -> ChosenRewrites:
    chosen = choose_steps(workspace, asked.run, None, asked.step, False)
    step = chosen.steps[0]
    if not 0 <= asked.first <= asked.last:
        raise InputError(
            f"there are no rewrites {asked.first} to {asked.last}; expected first to last, from 1"
        )
    texts, names = chosen.run.texts, dict[str, list[str]]()
    for name, func in functions_in(step.before):
        symbols = _symbols(step.level, func)
        history = texts.history_of(func)
        if history is None or symbols is None:
            continue
        state_names = texts.names_of(history)
        with state_names.lock:
            printed = state_names.up_to(func).choose(symbols)
            names[name] = [printed[id(symbol)] for symbol in symbols]
    return ChosenRewrites(chosen, names, asked.first, asked.last)


def _symbols(level: Any, func: object) -> list[Node] | None:
    return None if level.symbols is None else level.symbols(func)


def _send(found: ChosenRewrites, folder: Path) -> tuple[Any, ...]:
    chosen = found.chosen
    return (
        chosen.save(folder),
        chosen.numbers[0],
        found.names,
        chosen.run.loaded.source,
        found.first,
        found.last,
    )


def run_rewrites(
    path: str,
    number: int,
    names: dict[str, list[str]],
    source: Source | None,
    first: int = 0,
    last: int = 0,
) -> RewriteSteps:
    """Run the pass of a step once for each state; the child calls this."""
    step = Trace.load(path, LEVELS)[0]
    try:
        p = pass_of(source, step)
    except (IRKitError, ImportError):
        note = (
            "The rewrites cannot be shown, because the pass is not known here: open the script "
            "that defines it, or install its package."
        )
        return RewriteSteps(number, 0, note=note)
    report_progress(f"running {step.name}")
    states = RewriteStates(p, step.before)
    count = len(states.rewrites)
    if not count:
        note = "The pass reports no rewrites: it makes its result in one go."
        return RewriteSteps(number, 0, note=note)
    first, last = (first or 1), min(last or count, count)
    table = Names()
    for name, func in functions_in(step.before):
        for symbol, known in zip(
            _symbols(step.level, func) or (), names.get(name, ()), strict=False
        ):
            table.put_back(id(symbol), (symbol, known))
    made = _Writer(states, table, number)
    return made.steps(first, last)


class _Writer:
    """Writer of the states of a pass as texts and differences."""

    def __init__(self, states: RewriteStates, names: Names, number: int) -> None:
        self.states, self.names, self.number = states, names, number
        self.lines = LineTable()
        self.sent = SentLines(Highlighter(self.lines))
        self.remarks = [(each.text, id(each.node)) for each in states.remarks]

    def steps(self, first: int, last: int) -> RewriteSteps:
        began, note = time.monotonic(), ""
        given = self.states.after(first - 1)
        ids = [self._ids(self.states.before if given is None else given)]
        kept: list[RewriteState] = []
        for state in self.states.states(first, last, MOST_STATES):
            kept.append(state)
            ids.append(self._ids(state.ir))
            done = kept[-1].rewrites[-1].number + 1
            report_progress("taking the rewrites one by one", done, last)
            if time.monotonic() - began > SECONDS or sum(map(len, ids)) > MOST_LINES:
                note = "" if done == last else f"Rewrites {done + 1} to {last} are not shown."
                break
        infos = [
            self._state(state, before, after)
            for state, (before, after) in zip(kept, pairwise(ids), strict=True)
        ]
        texts = [self.sent.text(each) for each in ids]
        of = len(self.states.rewrites)
        return RewriteSteps(self.number, of, self.sent.html, texts, infos, note)

    def _ids(self, ir: IR) -> Ids:
        parts: list[str] = []
        for at, (_, func) in enumerate(functions_in(ir)):
            listing = self.listing_of(func)
            parts += ["", *listing] if at else listing
        return self.lines.number(parts)

    def listing_of(self, func: Function) -> list[str]:
        """Print a function as the page does."""
        level = next((each for each in LEVELS if isinstance(func, each.functions)), None)
        if level is None or level.listing is None:
            return func.script(names=self.names).splitlines()
        return level.listing(func, names=self.names).lines

    def _state(self, state: RewriteState, before: Ids, after: Ids) -> RewriteStateInfo:
        found = diff_lines(before, after)
        marks = partial(self.sent.marked, before), partial(self.sent.marked, after)
        rows = [page_row(row, *marks) for row in side_by_side(found, self.lines, context=0)]
        made = state.rewrites
        return RewriteStateInfo(
            made[0].number + 1,
            made[-1].number + 1,
            tuple(self._info(each) for each in made[:MOST_LISTED]),
            tuple(dict.fromkeys(_rule_text(each.rule) for each in made)),
            found.added,
            found.removed,
            len(found.hunks),
            rows,
        )

    def _info(self, each: Application) -> RewriteInfo:
        place, code = _written(each.span)
        remark = "; ".join(dict.fromkeys(self._remarks_on(each)))
        return RewriteInfo(each.number + 1, _rule_text(each.rule), place, code, remark)

    def _remarks_on(self, each: Application) -> Sequence[str]:
        if not self.remarks:
            return ()
        inside = {id(node) for node in (*walk(each.before), *walk(each.after))}
        return [text for text, node in self.remarks if node in inside]


def _rule_text(rule: str) -> str:
    return rule.replace("<locals>.", "")


def _written(span: Span | None) -> tuple[str, str]:
    """Return where a rule is written, and the line there. The place is that of code which ran in
    this process, never one that a file names."""
    if span is None or not span.line:
        return "", ""
    code = linecache.getline(span.file, span.line).strip()
    return f"{os.path.basename(span.file)}:{span.line}", code[:LONGEST_CODE]


REWRITES = JobKind(RewritesRequest, _find, _send, run_rewrites, keep_result, RUN_JOB_LIMITS)
