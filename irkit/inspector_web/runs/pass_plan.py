"""FIXME An option of a pass; ``default`` as it is written in the text form of passes."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache

import msgspec

from irkit.core import InputError
from irkit.graph import GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL
from irkit.passes import BUILTIN
from irkit.phases import DEFAULT, GRAPH, LEGALIZE
from irkit.transform import AnyPass, Attempt, Registry, Step, render_spec

PHASES = {
    GRAPH_LEVEL.name: GRAPH.phases,
    LOOP_LEVEL.name: (*DEFAULT.phases, *LEGALIZE.phases),
}
MOST_PASSES = 500


class OptionInfo(msgspec.Struct, frozen=True):
    """An option of a pass; ``default`` as it is written in the text form of passes."""

    name: str
    type: str
    default: str
    help: str


class PassInfo(msgspec.Struct, frozen=True):
    """A pass that can be put into a run; ``takes`` names the class of IR."""

    name: str
    takes: str
    doc: str
    options: tuple[OptionInfo, ...]


class PassPlacement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pass at its place; one that is not ``on`` does not run. ``options`` hold texts, of those
    that differ from the defaults."""

    level: str
    phase: int
    name: str
    options: dict[str, str] = {}
    on: bool = True

    @property
    def text(self) -> str:
        """Write it as it stands in pipelines."""
        inside = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}{{{inside}}}" if inside else self.name


class PhaseInfo(msgspec.Struct, frozen=True):
    """A phase that passes can be moved to."""

    level: str
    number: int
    name: str


class RunPlan(msgspec.Struct, frozen=True):
    """The passes of a run, of one function or of ``whole`` modules, and what else there is."""

    function: str
    whole: bool
    passes: tuple[PassPlacement, ...]
    phases: tuple[PhaseInfo, ...]
    known: tuple[PassInfo, ...]


@cache
def registry() -> Registry:
    """Return the passes that names may stand for: those of the toolkit and of installed
    packages."""
    return Registry.of(BUILTIN).with_entry_points()


def describe(p: AnyPass) -> PassInfo:
    """Say of a pass what one has to know to use it."""
    options = (
        OptionInfo(
            option.name,
            str(option).partition(": ")[2].partition(" = ")[0],
            _written(option.name, option.default),
            p.help_of(option.name),
        )
        for option in p.parameters
    )
    first = " ".join(p.doc.partition("\n\n")[0].split())
    return PassInfo(p.name, p.level.__name__, first, tuple(options))


def _written(name: str, value: object) -> str:
    return render_spec("p", {name: value})[len(name) + 3 : -1]


def placed_of(level: str, phase: int, p: AnyPass) -> PassPlacement:
    """Write down a pass of a pipeline."""
    return PassPlacement(level, phase, p.name, _texts(p.options))


def _texts(options: Mapping[str, object]) -> dict[str, str]:
    return {name: _written(name, value) for name, value in options.items()}


def steps_as_placed(steps: Iterable[Step]) -> tuple[PassPlacement, ...]:
    """List the passes that steps are of, each once, however many functions they ran on."""
    found: dict[tuple[str, int, str, int], PassPlacement] = {}
    seen: dict[tuple[str, str, int, str], int] = {}
    for step in steps:
        level = step.level.name
        own = step.function, level, step.phase, step.pass_text
        seen[own] = seen.get(own, 0) + 1
        made = PassPlacement(level, step.phase, step.name, _texts(step.options))
        found.setdefault((level, step.phase, step.pass_text, seen[own]), made)
    return tuple(found.values())


def left_of(attempt: Attempt) -> tuple[PassPlacement, ...]:
    """List the passes from a failed one on."""
    level = attempt.level.name
    return tuple(placed_of(level, number, p) for number, _, p in attempt.passes[attempt.at :])


def phases_of(
    passes: Sequence[PassPlacement], steps: Iterable[Step], whole: bool
) -> list[PhaseInfo]:
    """List the phases that there are for passes, those of the default pipelines included."""
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
    """Refuse passes that nobody named on the command line, and options that they do not have.

    Raises: IRKitError, as said of passes on the command line.
    """
    if len(passes) > MOST_PASSES:
        raise InputError(f"{len(passes)} passes are too many; at most {MOST_PASSES} are run")
    for each in passes:
        if each.level not in PHASES:
            raise InputError(f"{each.level[:40]!r} is no level; there are: {', '.join(PHASES)}")
        if not 0 <= each.phase < 1000:
            raise InputError(f"there is no phase {each.phase}")
        if each.name not in own:
            registry().resolve(each.text, imports=False)


def changes(old: Sequence[PassPlacement], new: Sequence[PassPlacement]) -> list[str]:
    """Say in words what is different about the passes of a run."""
    before, after = _numbered(old), _numbered(new)
    matcher = SequenceMatcher(None, list(before), list(after), autojunk=False)
    kept = {
        key
        for block in matcher.get_matching_blocks()
        for key in list(after)[block.b : block.b + block.size]
    }
    said: list[str] = []
    for key, now in after.items():
        then = before.get(key)
        if then is None or then.on != now.on:
            said += [f"with {now.text}"] if now.on else [f"without {now.name}"] if then else []
        elif now.on:
            said += _differs(then, now, moved=key not in kept)
    gone = [each for key, each in before.items() if key not in after and each.on]
    return said + [f"without {each.name}" for each in gone]


def _differs(then: PassPlacement, now: PassPlacement, *, moved: bool) -> Iterable[str]:
    if then.phase != now.phase:
        yield f"{now.name} in phase {now.phase}"
    elif moved:
        yield f"{now.name} moved"
    if then.options != now.options:
        yield now.text if now.options else f"{now.name} as usual"


def _numbered(passes: Sequence[PassPlacement]) -> dict[tuple[str, str, int], PassPlacement]:
    """Give each pass a name of its own: it may stand there several times."""
    made: dict[tuple[str, str, int], PassPlacement] = {}
    for each in passes:
        time = 0
        while (each.level, each.name, time) in made:
            time += 1
        made[each.level, each.name, time] = each
    return made
