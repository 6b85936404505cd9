"""Judge a file, which may be damaged: either it is refused with a located error, or it computes
what it says. An undamaged file must be read."""

from irkit.fuzz.generators.onnx_models.windows import PLAIN_OPERATORS
from irkit.fuzz.generators.sample import Sample
from irkit.fuzz.judge.files.compare_outputs import check_model
from irkit.fuzz.judge.files.input_verdict import InputVerdict
from irkit.fuzz.judge.files.read_text import read_text
from irkit.fuzz.judge.files.run_model import load_model
from irkit.fuzz.judge.outcome import Status, WrongSample
from irkit.fuzz.judge.progress import TierProgress

DAMAGED = "damaged file"
_FATES = {
    "refused": "refused",
    "accepted": "read back",
    "agrees": "agrees with onnx.reference",
    "excluded": "not compared",
}
_BROKEN = ("slow error", "endless message", "error without a place")
_DIFFERS = "differs from onnx.reference"


def judge_file(sample: Sample, progress: TierProgress, native: bool) -> None:
    """Read text, or a damaged model, which then also runs if ``native``. Raises: WrongSample."""
    if isinstance(sample.ir, str):
        with progress.running(DAMAGED if sample.damaged else "interpreter"):
            verdict = read_text(sample.ir.encode(errors="replace"))
            progress.checks.append("print and parse")
    else:
        assert isinstance(sample.ir, bytes)
        with progress.running(DAMAGED):
            verdict = check_model(sample.ir, PLAIN_OPERATORS) if native else load_model(sample.ir)
    if verdict.status == "wrong":
        raise WrongSample(_status(verdict), f"{verdict.what}: {verdict.message}")
    if sample.damaged:
        progress.fate = _FATES[verdict.status]
    elif verdict.status == "refused":
        raise WrongSample("failed", f"what was printed does not read: {verdict.message}")


def _status(verdict: InputVerdict) -> Status:
    if verdict.what == _DIFFERS:
        return "mismatch"
    return "broken" if verdict.what.startswith((*_BROKEN, "what was")) else "failed"
