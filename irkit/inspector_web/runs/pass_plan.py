"""The passes of a run as data: listed, described, changed and checked before they run again."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache

import msgspec

from irkit.core import InputError
from irkit.graph import GRAPH_LEVEL
from irkit.inspector_web.limits import MOST_PLANNED
from irkit.ir import LOOP_LEVEL
from irkit.passes import installed_passes
from irkit.phases import DEFAULT, GRAPH, LEGALIZE
from irkit.transform import AnyPass, Attempt, Registry, Step, render_spec

EDIT = "(edit)"
"""The name of the step that stands for what a user changed by hand; no pass can have it."""

PHASES = {
    GRAPH_LEVEL.name: GRAPH.phases,
    LOOP_LEVEL.name: (*DEFAULT.phases, *LEGALIZE.phases),
}


class OptionInfo(msgspec.Struct, frozen=True):
    """An option of a pass; ``default`` is in the text form of passes."""

    name: str
    type: str
    default: str
    help: str


class PassInfo(msgspec.Struct, frozen=True):
    """A pass that can be added to a run; ``takes`` is the name of the IR class it works on."""

    name: str
    takes: str
    doc: str
    options: tuple[OptionInfo, ...]


class PassPlacement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pass in a phase; it does not run unless ``on``.

    ``options`` has the options that differ from their defaults, as text.
    """

    level: str
    phase: int
    name: str
    options: dict[str, str] = {}
    on: bool = True

    @property
    def text(self) -> str:
        """Return the text form of the pass with its options."""
        inside = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}{{{inside}}}" if inside else self.name


class PhaseInfo(msgspec.Struct, frozen=True):
    """A phase that passes can be moved to."""

    level: str
    number: int
    name: str


class RunPlan(msgspec.Struct, frozen=True):
    """The passes of a run, on one function or on ``whole`` modules, and the passes and phases that
    can be added."""

    function: str
    whole: bool
    passes: tuple[PassPlacement, ...]
    phases: tuple[PhaseInfo, ...]
    known: tuple[PassInfo, ...]


@cache
def registry() -> Registry:
    """Return the built-in passes and those of installed packages."""
    return installed_passes()


def describe(p: AnyPass) -> PassInfo:
    """Describe a pass and its options."""
    options = (
        OptionInfo(
            option.name,
            str(option).partition(": ")[2].partition(" = ")[0],
            _option_text(option.name, option.default),
            p.help_of(option.name),
        )
        for option in p.parameters
    )
    first = " ".join(p.doc.partition("\n\n")[0].split())
    return PassInfo(p.name, p.level.__name__, first, tuple(options))


def _option_text(name: str, value: object) -> str:
    return render_spec("p", {name: value})[len(name) + 3 : -1]


def placement_of(level: str, phase: int, p: AnyPass) -> PassPlacement:
    """Return the placement of a pass in a phase of a level."""
    return PassPlacement(level, phase, p.name, _option_texts(p.options))


def placement_of_step(step: Step) -> PassPlacement:
    """Return the placement of the pass of a step."""
    return PassPlacement(step.level.name, step.phase, step.name, _option_texts(step.options))


def _option_texts(options: Mapping[str, object]) -> dict[str, str]:
    return {name: _option_text(name, value) for name, value in options.items()}


def placements_of_steps(steps: Iterable[Step]) -> tuple[PassPlacement, ...]:
    """List the passes of steps, each once even if it ran on several functions."""
    found: dict[tuple[str, int, str, int], PassPlacement] = {}
    seen: dict[tuple[str, str, int, str], int] = {}
    for step in steps:
        level = step.level.name
        own = step.function, level, step.phase, step.pass_text
        seen[own] = seen.get(own, 0) + 1
        made = placement_of_step(step)
        found.setdefault((level, step.phase, step.pass_text, seen[own]), made)
    return tuple(found.values())


def placements_left(attempt: Attempt) -> tuple[PassPlacement, ...]:
    """List the passes of a failed run from the failed one on."""
    level = attempt.level.name
    return tuple(placement_of(level, number, p) for number, _, p in attempt.passes[attempt.at :])


def phases_of(
    passes: Sequence[PassPlacement], steps: Iterable[Step], whole: bool
) -> list[PhaseInfo]:
    """List the phases that passes can be in, including those of the default pipelines."""
    levels = dict.fromkeys(each.level for each in passes)
    if whole and GRAPH_LEVEL.name in levels:
        levels = {GRAPH_LEVEL.name: None, LOOP_LEVEL.name: None}
    names = {(step.level.name, step.phase): step.phase_name for step in steps}
    for level in levels:
        for phase in PHASES.get(level, ()):
            names.setdefault((level, phase.number), phase.name)
        for each in passes:
            names.setdefault((each.level, each.phase), "")
    order = list(levels)
    chosen = sorted(
        (order.index(level), n, name) for (level, n), name in names.items() if level in levels
    )
    return [PhaseInfo(order[at], number, name) for at, number, name in chosen]


def check_known(passes: Sequence[PassPlacement], own: Mapping[str, PassInfo]) -> None:
    """Check that passes and their options are known; ``own`` are those that a script defines.

    Raises: IRKitError, as for passes on the command line.
    """
    if len(passes) > MOST_PLANNED:
        raise InputError(f"{len(passes)} passes are too many; at most {MOST_PLANNED} can run")
    for each in passes:
        if each.level not in PHASES:
            raise InputError(
                f"{each.level[:40]!r} is not a level; expected one of: {', '.join(PHASES)}"
            )
        if not 0 <= each.phase < 1000:
            raise InputError(f"{each.name} cannot be in phase {each.phase}; expected 0 to 999")
        if each.name not in own:
            registry().resolve(each.text, imports=False)


def changes(old: Sequence[PassPlacement], new: Sequence[PassPlacement]) -> list[str]:
    """Describe in words how the passes of a run were changed."""
    before, after = _numbered(old), _numbered(new)
    matcher = SequenceMatcher(None, list(before), list(after), autojunk=False)
    kept = {
        key
        for block in matcher.get_matching_blocks()
        for key in list(after)[block.b : block.b + block.size]
    }
    texts: list[str] = []
    for key, now in after.items():
        then = before.get(key)
        if then is None or then.on != now.on:
            texts += [f"with {now.text}"] if now.on else [f"without {now.name}"] if then else []
        elif now.on:
            texts += _differences(then, now, moved=key not in kept)
    gone = [each for key, each in before.items() if key not in after and each.on]
    return texts + [f"without {each.name}" for each in gone]


def _differences(then: PassPlacement, now: PassPlacement, *, moved: bool) -> Iterable[str]:
    if then.phase != now.phase:
        yield f"{now.name} in phase {now.phase}"
    elif moved:
        yield f"{now.name} moved"
    if then.options != now.options:
        yield now.text if now.options else f"{now.name} with default options"


def _numbered(passes: Sequence[PassPlacement]) -> dict[tuple[str, str, int], PassPlacement]:
    """Map passes to unique keys, since a pass can occur several times."""
    made: dict[tuple[str, str, int], PassPlacement] = {}
    for each in passes:
        time = 0
        while (each.level, each.name, time) in made:
            time += 1
        made[each.level, each.name, time] = each
    return made
