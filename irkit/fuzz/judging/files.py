"""Judge a file, which may be damaged: it is refused with an error that says where, or what it says
is what comes of it. What is not damaged must read."""

from irkit.fuzz.generators import PLAIN_OPERATORS, Sample
from irkit.fuzz.hostile import Verdict, judged_model, try_loading, try_text
from irkit.fuzz.judging.course import Course
from irkit.fuzz.judging.outcome import Status, Wrong

DAMAGED = "damaged file"
_FATES = {
    "refused": "refused",
    "accepted": "read back",
    "agrees": "agrees with onnx.reference",
    "excluded": "not compared",
}
_BROKEN = ("slow error", "endless message", "error without a place")
_DIFFERS = "differs from onnx.reference"


def judge_file(sample: Sample, course: Course, native: bool) -> None:
    """Read text, or a damaged model, which then runs if that is ``native``. Raises: Wrong."""
    if isinstance(sample.ir, str):
        with course.running(DAMAGED if sample.damaged else "interpreter"):
            verdict = try_text(sample.ir.encode(errors="replace"))
            course.checks.append("print and parse")
    else:
        assert isinstance(sample.ir, bytes)
        with course.running(DAMAGED):
            verdict = judged_model(sample.ir, PLAIN_OPERATORS) if native else try_loading(sample.ir)
    if verdict.status == "wrong":
        raise Wrong(_status(verdict), f"{verdict.what}: {verdict.message}")
    if sample.damaged:
        course.fate = _FATES[verdict.status]
    elif verdict.status == "refused":
        raise Wrong("failed", f"what was printed does not read: {verdict.message}")


def _status(verdict: Verdict) -> Status:
    if verdict.what == _DIFFERS:
        return "mismatch"
    return "broken" if verdict.what.startswith((*_BROKEN, "what was")) else "failed"
