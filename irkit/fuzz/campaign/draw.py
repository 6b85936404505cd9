"""A case by its number: what is drawn for it is the same on every machine and in every process."""

import hashlib
import tomllib
from pathlib import Path

import msgspec

from irkit.core import FormatError, IRKitError
from irkit.fuzz.generators.draw_sample import draw_case, seed_choices
from irkit.fuzz.generators.sample import KINDS, Kind, Sample
from irkit.fuzz.generators.sample_file import read_sample
from irkit.fuzz.judge.models import is_model
from irkit.fuzz.picks import Picks, beginning_with, picks_of
from irkit.ir import PrimFunc
from irkit.passes import installed_passes
from irkit.phases import Flow
from irkit.transform import parse_placed


class Draw(msgspec.Struct, frozen=True):
    """A case: its kind, the seed of the campaign, and its number in it. ``passes`` are those under
    test, each with its place, as ``--pass`` has it. With a ``file`` nothing is drawn: that is the
    file of a sample, which holds all."""

    kind: Kind
    seed: int
    number: int
    passes: tuple[str, ...] = ()
    file: str = ""

    @property
    def name(self) -> str:
        """Name it, such as for a file."""
        return Path(self.file).stem if self.file else f"{self.kind}-{self.seed}-{self.number}"

    @property
    def picks(self) -> Picks:
        """Make the choices of the case. Those of neighbouring numbers have nothing in common, but
        for what they are led to."""
        digest = hashlib.sha256(f"{self.seed} {self.kind} {self.number}".encode()).digest()
        picks = picks_of(int.from_bytes(digest[:8], "little"))
        return beginning_with(seed_choices(self.kind, self.seed, self.number), picks)

    def sample(self) -> Sample:
        """Draw it, or read its file.

        Raises: Unusable; IRKitError if a pass under test cannot stand in its place, or the file is
        none of a sample; OSError.
        """
        if self.file:
            return read_sample(Path(self.file))
        return with_passes(draw_case(self.kind, self.picks), self.passes)


def draw_of(seed: int, number: int, kinds: tuple[Kind, ...], passes: tuple[str, ...]) -> Draw:
    """Say what case has a number: the kinds take turns."""
    return Draw(kinds[number % len(kinds)], seed, number, passes)


def with_passes(sample: Sample, passes: tuple[str, ...]) -> Sample:
    """Put passes under test into the pipeline of a sample, if it is one of their level.

    Raises: IRKitError, such as where the pipeline lacks what a pass needs.
    """
    if not passes or sample.damaged or isinstance(sample.ir, str):
        return sample
    loops = isinstance(sample.ir, PrimFunc)
    assert loops or is_model(sample.ir)
    wanted = [text for text in passes if text.startswith("graph:") != loops]
    if not wanted:
        return sample
    flow = Flow(loops=sample.pipeline) if loops else Flow(graph=sample.pipeline)
    flow = flow.with_placed(wanted, installed_passes())
    return msgspec.structs.replace(sample, pipeline=flow.loops if loops else flow.graph)


def written(draw: Draw) -> str:
    """Write a case as the text of a file that :func:`read_draw` reads."""
    passes = ", ".join(_quoted(text) for text in draw.passes)
    return (
        f"kind = {_quoted(draw.kind)}\nseed = {draw.seed}\nnumber = {draw.number}\n"
        f"passes = [{passes}]\n"
    ) + (f"file = {_quoted(draw.file)}\n" if draw.file else "")


def _quoted(text: str) -> str:
    # A string of JSON is one of TOML.
    return msgspec.json.encode(text).decode()


def read_draw(path: Path) -> Draw:
    """Read the file of a case, or of a sample. Raises: FormatError if it is none; OSError."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        if "irkit_sample" in data:
            return Draw(read_sample(path).kind, 0, 0, file=str(path))
        fields = {name: data[name] for name in ("kind", "seed", "number", "passes")}
        fields["file"] = data.get("file", "")
        draw = msgspec.convert(fields, Draw)
    except (ValueError, KeyError) as error:
        missing = isinstance(error, KeyError)
        raise FormatError(
            f"{path} is no case of irkit fuzz: {f'it has no {error}' if missing else error}",
            hint=f"It needs kind (one of {', '.join(KINDS)}), seed, number and passes.",
        ) from None
    return draw


def checked_names(passes: tuple[str, ...]) -> tuple[str, ...]:
    """Find the names of passes under test.

    Raises: IRKitError if one is not there, or its place is not.
    """
    known, names = installed_passes(), list[str]()
    for text in passes:
        flow = Flow().with_placed([text], known)
        if flow.legalize is not Flow().legalize:
            raise IRKitError(
                f"pass {text!r} stands in the legalisation, which fuzzing does not run",
                hint="Give it a phase (0 to 3), or graph.",
            )
        names.append(known.resolve(parse_placed(text).spec).name)
    return tuple(names)
