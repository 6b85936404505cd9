"""Details of one step, and of one line."""

import os
from typing import Any

import msgspec

from irkit.core import InputError
from irkit.debug import remarks
from irkit.inspector_web.limits import MOST_READ_FOR_LINE, MOST_REMARKS, MOST_RULES
from irkit.inspector_web.runs.pass_plan import registry
from irkit.inspector_web.runs.pass_source import PassSource, source_of
from irkit.inspector_web.runs.run import Run, RunStage
from irkit.inspector_web.runs.steps import COMPARING
from irkit.inspector_web.text.texts import GIVEN
from irkit.inspector_web.views.origin import Link
from irkit.transform import AnyPass, Step, Trace


class RemarkInfo(msgspec.Struct):
    """A remark of a pass; ``line`` is a line of the IR before it, 0 if unknown."""

    text: str
    function: str
    line: int


class SourceInfo(msgspec.Struct):
    """Source of a pass: its module, the name of its file (never a path), the line it begins on,
    and its text; ``own`` if a script of the user's defines it."""

    module: str
    file: str
    line: int
    text: str
    own: bool = False


class RuleInfo(msgspec.Struct):
    """What a rule did in a step; ``rounds`` is 0 if it was not repeated. Units: milliseconds."""

    rule: str
    hits: int
    ms: float
    rounds: int


class StepInfo(msgspec.Struct, kw_only=True):
    """Details of a step; of one that failed only what is known of it.

    Units: milliseconds; ``share`` of the time of all steps of the run.
    """

    index: int
    name: str
    pass_text: str
    doc: str
    options: dict[str, str] = {}
    remarks: list[RemarkInfo] = []
    more_remarks: int = 0
    rules: list[RuleInfo] = []
    more_rules: int = 0
    rewrites: int = 0
    facts: list[str] = []
    ms: float = 0.0
    share: float = 0.0
    source: SourceInfo | None
    failure: str = ""
    traceback: str = ""
    replay: str = ""


class LineInfo(msgspec.Struct):
    """Where a line comes from: which pass last changed it, and its origins, nearest first.

    ``more`` if earlier states have to be compared first, so the page has to ask again. ``unread``
    nodes are too many to read for the origins of a line.
    """

    line: int
    function: str
    code: str
    step: int
    step_name: str
    origins: list[tuple[str, str, str]]
    more: bool = False
    unread: int = 0


def step_info(run: Run, number: int) -> StepInfo:
    """Collect the details of a step, or of the pass that failed after the last step."""
    if number == len(run.trace):
        return _failed(run)
    step = run.trace[number]
    said = remarks([step])
    total = sum(each.seconds for each in run.trace) or 1.0
    found = None if run.is_text else _find(step.name)
    known = None if run.is_text else pass_source(run, step.name)
    return StepInfo(
        index=number,
        name=step.name,
        pass_text=step.pass_text,
        doc=known.doc if known is not None else "",
        options=_options(step, found),
        remarks=[RemarkInfo(each.text, each.function, each.line) for each in said[:MOST_REMARKS]],
        more_remarks=max(0, len(said) - MOST_REMARKS),
        rules=_rules(step),
        more_rules=max(0, len(step.reports) - MOST_RULES),
        rewrites=step.applications,
        facts=list(step.facts),
        ms=step.seconds * 1e3,
        share=step.seconds / total,
        source=_source(known),
    )


def _failed(run: Run) -> StepInfo:
    failure = run.loaded.failure
    assert failure is not None
    known = None if run.is_text else pass_source(run, failure.name)
    return StepInfo(
        index=len(run.trace),
        name=failure.name,
        pass_text=failure.pass_text,
        doc=known.doc if known is not None else "",
        source=_source(known),
        failure=str(failure),
        traceback=without_paths(run.loaded.traceback),
        replay=run.loaded.replay,
    )


def _rules(step: Step) -> list[RuleInfo]:
    """Return the rules of a step, those that fired most and took longest first."""
    ordered = sorted(step.reports, key=lambda each: (-each.hits, -each.seconds))
    return [
        RuleInfo(each.rule, each.hits, each.seconds * 1e3, each.rounds)
        for each in ordered[:MOST_RULES]
    ]


def _find(name: str) -> AnyPass | None:
    known = registry()
    return known.find(name) if name in known else None


def _options(step: Step, found: AnyPass | None) -> dict[str, str]:
    given: dict[str, Any] = {}
    if found is not None:
        given = {option.name: option.default for option in found.parameters}
    given.update(step.options)
    return {name: repr(value)[:200] for name, value in given.items()}


def pass_source(run: Run, name: str) -> PassSource | None:
    """Find the source of a pass: built in, installed, or defined by the script of the run."""
    found = _find(name)
    if found is not None:
        return source_of(found)
    return next((each for each in run.loaded.sources if each.name == name), None)


def _source(known: PassSource | None) -> SourceInfo | None:
    if known is None or not known.text:
        return None
    file = os.path.basename(known.file)
    return SourceInfo(known.module, file, known.line, known.text, known.name not in registry())


class EditorPlace(msgspec.Struct, frozen=True):
    """A place to open in an editor: the path of a file on this machine, and the line from 1."""

    file: str
    line: int


def editor_place(run: Run, number: int) -> EditorPlace:
    """Return where the pass of a step is written. Raises: InputError if that is not known."""
    at_end = number == len(run.trace) and run.loaded.failure is not None
    name = run.loaded.failure.name if at_end and run.loaded.failure else run.trace[number].name
    known = pass_source(run, name)
    if known is None or not known.file:
        raise InputError(f"the file of the pass {name!r} is not known here")
    return EditorPlace(known.file, known.line)


def without_paths(text: str) -> str:
    """Shorten the paths of files in a traceback to their names."""
    lines: list[str] = []
    for line in text.splitlines():
        head, mark, rest = line.partition('File "')
        path, quote, tail = rest.partition('"')
        lines.append(f"{head}{mark}{os.path.basename(path)}{quote}{tail}" if mark else line)
    return "\n".join(lines)


def line_info(stage: RunStage, line: int) -> LineInfo:
    """Find where a line of a stage, by number from 1, comes from."""
    run = stage.run
    blamed = run.blame.within(stage.states, COMPARING)
    step = GIVEN if blamed is None else int(blamed[line - 1])
    if stage.unread > MOST_READ_FOR_LINE:
        return LineInfo(
            line=line,
            function=stage.states[0].name if len(stage.states) == 1 else "",
            code=run.texts.table.lines[int(stage.ids[line - 1])].strip(),
            step=step,
            step_name=_step_name(run.trace, step),
            origins=[],
            more=blamed is None,
            unread=stage.unread,
        )
    function, own = _part(stage, line)
    return LineInfo(
        line=own,
        function=function,
        code=run.texts.table.lines[int(stage.ids[line - 1])].strip(),
        step=step,
        step_name=_step_name(run.trace, step),
        origins=[shown_link(link) for link in run.origins(stage.ir).of(line)],
        more=blamed is None,
    )


def _step_name(trace: Trace, step: int) -> str:
    return "" if step == GIVEN else trace[step].pass_text


def _part(stage: RunStage, line: int) -> tuple[str, int]:
    """Return the function that contains a line of a module, and the number of the line in it."""
    for before, part in stage.text.parts:
        if before < line <= before + len(part.ids):
            return part.func.name, line - before
    return "", line


def shown_link(link: Link) -> tuple[str, str, str]:
    """Return kind, name and place of an origin."""
    return link.kind, link.name, f"{link.file}:{link.line}" if link.line else link.file
