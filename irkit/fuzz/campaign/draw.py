"""One case of a campaign, by number: the same on every machine and in every process."""

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
    """A case: its kind, the seed of the campaign, and its number.

    ``passes`` are the passes under test with their positions, as ``--pass`` has them. With a
    ``file``, nothing is drawn: the sample is read from it.
    """

    kind: Kind
    seed: int
    number: int
    passes: tuple[str, ...] = ()
    file: str = ""

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
        return beginning_with(seed_choices(self.kind, self.seed, self.number), picks)

    def sample(self) -> Sample:
        """Draw the sample, or read its file.

        Raises: Unusable; IRKitError if a pass under test cannot stand at its position, or the file
        is not a sample; OSError.
        """
        if self.file:
            return read_sample(Path(self.file))
        return with_passes(draw_case(self.kind, self.picks), self.passes)


def draw_of(seed: int, number: int, kinds: tuple[Kind, ...], passes: tuple[str, ...]) -> Draw:
    """Return the case that has a number: the kinds take turns."""
    return Draw(kinds[number % len(kinds)], seed, number, passes)


def with_passes(sample: Sample, passes: tuple[str, ...]) -> Sample:
    """Insert the passes under test into the pipeline of a sample, if they are of its level.

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


def case_text(draw: Draw) -> str:
    """Return the text of a file for a case, as :func:`read_draw` reads it."""
    passes = ", ".join(_quoted(text) for text in draw.passes)
    return (
        f"kind = {_quoted(draw.kind)}\nseed = {draw.seed}\nnumber = {draw.number}\n"
        f"passes = [{passes}]\n"
    ) + (f"file = {_quoted(draw.file)}\n" if draw.file else "")


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
            return Draw(read_sample(path).kind, 0, 0, file=str(path))
        fields = {name: data[name] for name in ("kind", "seed", "number", "passes")}
        fields["file"] = data.get("file", "")
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
