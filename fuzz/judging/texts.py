"""Judge IR text: it reads, or is refused with a location; what reads prints and reads back."""

from irkit.core import IRKitError, IRModule
from irkit.debug.contracts import equal_structure
from irkit.fuzz.judging.course import Course
from irkit.fuzz.judging.outcome import Wrong
from irkit.graph import parse_module


def judge_text(text: str, course: Course) -> None:
    """Read text, and what is printed of it. Raises: Wrong."""
    with course.running("interpreter"):
        try:
            module = parse_module(text)
        except IRKitError as error:
            if error.span is None:
                raise Wrong("broken", f"the error has no location: {error}") from None
            return
    with course.running("promises"):
        course.checks.append("print and parse")
        reads_back(module)


def reads_back(module: IRModule) -> None:
    """Print and read. Raises: Wrong if something else comes back."""
    text = module.script()
    try:
        again = parse_module(text)
    except IRKitError as error:
        raise Wrong("broken", f"what was printed does not read: {error}") from None
    if not equal_structure(module, again):
        raise Wrong("broken", "what was printed reads as something else")
    if again.script() != text:
        raise Wrong("broken", "what was read prints as something else")
