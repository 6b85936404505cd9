"""Read the text of an edited function or schedule, and check that it fits where it is to stand."""

from irkit.core import Function, InputError, Level, ScheduleError
from irkit.graph import GRAPH_LEVEL, GraphFunc, constants_of, parse as parse_graph, type_text
from irkit.ir import LOOP_LEVEL, Buffer, PrimFunc, parse, script
from irkit.schedule import Schedule, read_schedule
from irkit.transform import VerificationFailed, list_problems

FILE = "edited"
"""The name of the text in errors."""

Editable = PrimFunc | GraphFunc


def level_of(func: Function) -> Level:
    """Return the level of a function of a module."""
    return LOOP_LEVEL if isinstance(func, PrimFunc) else GRAPH_LEVEL


def read_text(text: str, old: Editable) -> Editable:
    """Read a function that takes the place of another; large constants are those of the old one.

    Raises: IRKitError that says where the text is wrong, or why it cannot take that place.
    """
    made = parse(text, file=FILE) if isinstance(old, PrimFunc) else _graph(text, old)
    _check(made, old)
    return made


def _graph(text: str, old: GraphFunc) -> GraphFunc:
    held = {data.digest: data for data in constants_of(old).values()}
    present = {digest: data for digest, data in held.items() if not data.is_absent}
    made = parse_graph(text, constants=present, absent=True, file=FILE)
    for value, data in constants_of(made).items():
        if data.is_absent and data.digest not in held:
            raise InputError(
                f"no constant here has the digest {data.digest[:12]}…, which {value.name!r} names",
                hint="Use one of the digests of the text, or write the numbers.",
            )
    return made


def scheduled(func: PrimFunc, text: str) -> PrimFunc:
    """Schedule a function as a text says. Raises: ScheduleError with the reason of a refusal."""
    schedule = Schedule(func)
    trace = read_schedule(text, file=FILE)
    try:
        for _ in schedule.replaying(trace):  # Not replay, which keeps what was legal in the cache.
            pass
    except ScheduleError as error:
        notes = "\n".join(getattr(error, "__notes__", ()))
        raise ScheduleError(f"{error.message}\n{notes}".rstrip(), hint=error.hint) from None
    _check(schedule.func, func)
    return schedule.func


def _check(made: Editable, old: Editable) -> None:
    if made.name != old.name:
        raise InputError(f"the function is named {made.name!r}; expected {old.name!r}")
    problems = tuple(level_of(made).verify(made))
    if problems:
        raise VerificationFailed("this IR is invalid", problems, hint=list_problems(problems))
    if _types(made) != _types(old):
        what = "parameters" if isinstance(old, PrimFunc) else "parameters or another result"
        raise InputError(f"the function has other {what}; only its body can be edited")


def _types(func: Editable) -> list[object]:
    if isinstance(func, GraphFunc):
        return [type_text(each.type, script) for each in (*func.params, func.body.result)]
    shapes = [param.shape if isinstance(param, Buffer) else () for param in func.params]
    return [
        (str(param.dtype), [script(dim) for dim in shape])
        for param, shape in zip(func.params, shapes, strict=True)
    ]
