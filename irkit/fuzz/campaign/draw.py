"""One case of a campaign, by number: the same on every machine and in every process."""

import hashlib
import tomllib
from functools import cache
from pathlib import Path

import msgspec

from irkit.core import FormatError, IRKitError
from irkit.fuzz.generators.aimed.aim import PassAim, aim_of
from irkit.fuzz.generators.draw_sample import draw_case, seed_choices
from irkit.fuzz.generators.sample import KINDS, Kind, Numbered, Sample
from irkit.fuzz.generators.sample_file import parse_sample, read_sample
from irkit.fuzz.guidance.program_changes import changed_program
from irkit.fuzz.guidance.swarm import swarm_of, with_swarm
from irkit.fuzz.judge.models import is_model
from irkit.fuzz.picks import Picks, beginning_with, picks_of
from irkit.ir import PrimFunc
from irkit.passes import installed_passes
from irkit.phases import Flow
from irkit.transform import AnyPass, parse_placed

_OPTIONAL = ("file", "swarm", "choices", "changes")


class Draw(msgspec.Struct, frozen=True):
    """A case: its kind, the seed of the campaign, and its number.

    ``passes`` are the passes under test with their positions, as ``--pass`` has them. With a
    ``file``, nothing is drawn: the sample is read from it, or is its ``text``, for workers on
    other machines.

    A case with ``swarm`` uses the subset of the generators that has this number. One that was made
    from another begins with its ``choices``, and its program is changed by each of ``changes``.
    """

    kind: Kind
    seed: int
    number: int
    passes: tuple[str, ...] = ()
    file: str = ""
    text: str = ""
    swarm: int = 0
    choices: tuple[int, ...] = ()
    changes: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Return a name, such as for a file."""
        return Path(self.file).stem if self.file else f"{self.kind}-{self.seed}-{self.number}"

    @property
    def picks(self) -> Picks:
        """Return the choices of the case. Neighbouring numbers have nothing in common, apart from
        what they take from the seed corpus."""
        digest = hashlib.sha256(f"{self.seed} {self.kind} {self.number}".encode()).digest()
        picks = picks_of(int.from_bytes(digest[:8], "little"))
        if self.swarm:
            picks = with_swarm(picks, f"{self.seed} {self.swarm}")
        lead = self.choices or seed_choices(self.kind, self.seed, self.number)
        return beginning_with(lead, picks)

    def sample(self, picks: Picks | None = None) -> Sample:
        """Draw the sample, by other choices if they are given, or read its file.

        Raises: Unusable; IRKitError if a pass under test cannot stand at its position, or the file
        is not a sample; OSError.
        """
        if self.file:
            return parse_sample(self.text) if self.text else read_sample(Path(self.file))
        sample = draw_case(self.kind, picks or self.picks, self.aim)
        for change in self.changes:
            sample = changed_program(sample, picks_of(change))
        return with_passes(sample, self.passes)

    @property
    def aim(self) -> PassAim | None:
        """Return what the passes under test look for, one after the other."""
        return _aim(self.passes[self.number % len(self.passes)]) if self.passes else None

    @property
    def about(self) -> str:
        """Return the name of the pass under test whose contracts are checked."""
        return _pass_of(self.passes[self.number % len(self.passes)]).name if self.passes else ""


def draw_of(
    seed: int,
    number: int,
    kinds: tuple[Kind, ...],
    passes: tuple[str, ...],
    *,
    swarm: bool = False,
) -> Draw:
    """Return the case that has a number: the kinds take turns, and so do subsets of the generators
    if ``swarm``."""
    kind = kinds[number % len(kinds)]
    return Draw(kind, seed, number, passes, swarm=swarm_of(number) if swarm else 0)


def _pass_of(text: str) -> AnyPass:
    return installed_passes().resolve(parse_placed(text).spec)


@cache
def _aim(text: str) -> PassAim | None:
    return aim_of(_pass_of(text))


def with_passes(sample: Sample, passes: tuple[str, ...]) -> Sample:
    """Insert the passes under test into the pipeline of a sample, if they are of its level.

    Raises: IRKitError, such as where the pipeline lacks what a pass needs.
    """
    if not passes or sample.damaged or isinstance(sample.ir, (str, Numbered)):
        return sample
    loops = isinstance(sample.ir, PrimFunc)
    assert loops or is_model(sample.ir)
    wanted = [text for text in passes if text.startswith("graph:") != loops]
    if not wanted:
        return sample
    flow = Flow(loops=sample.pipeline) if loops else Flow(graph=sample.pipeline)
    flow = flow.with_placed(wanted, installed_passes())
    return msgspec.structs.replace(sample, pipeline=flow.loops if loops else flow.graph)


def case_text(draw: Draw) -> str:
    """Return the text of a file for a case, as :func:`read_draw` reads it."""
    passes = ", ".join(_quoted(text) for text in draw.passes)
    return (
        f"kind = {_quoted(draw.kind)}\nseed = {draw.seed}\nnumber = {draw.number}\n"
        f"passes = [{passes}]\n"
        + (f"file = {_quoted(draw.file)}\n" if draw.file else "")
        + (f"swarm = {draw.swarm}\n" if draw.swarm else "")
        + (f"choices = {list(draw.choices)}\n" if draw.choices else "")
        + (f"changes = {list(draw.changes)}\n" if draw.changes else "")
    )


def _quoted(text: str) -> str:
    # A JSON string is a TOML string.
    return msgspec.json.encode(text).decode()


def read_draw(path: Path) -> Draw:
    """Read the file of a case, or of a sample.

    Raises: FormatError if it is neither; OSError.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        if "irkit_sample" in data:
            return Draw(read_sample(path).kind, 0, 0, file=str(path), text=path.read_text("utf-8"))
        fields = {name: data[name] for name in ("kind", "seed", "number", "passes")}
        fields |= {name: data[name] for name in _OPTIONAL if name in data}
        draw = msgspec.convert(fields, Draw)
    except (ValueError, KeyError) as error:
        missing = isinstance(error, KeyError)
        raise FormatError(
            f"{path} is not a case of irkit fuzz: {f'it has no {error}' if missing else error}",
            hint=f"It needs kind (one of {', '.join(KINDS)}), seed, number and passes.",
        ) from None
    return draw


def checked_names(passes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the passes under test.

    Raises: IRKitError if a pass or its position does not exist.
    """
    known, names = installed_passes(), list[str]()
    for text in passes:
        flow = Flow().with_placed([text], known)
        if flow.legalize is not Flow().legalize:
            raise IRKitError(
                f"pass {text!r} is positioned in legalisation, which fuzzing does not run",
                hint="Give it a phase (0 to 3), or graph.",
            )
        names.append(known.resolve(parse_placed(text).spec).name)
    return tuple(names)
