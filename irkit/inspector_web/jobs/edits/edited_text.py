"""Read the text of an edited function, module or schedule, and check that it fits where it is to
stand."""

from irkit.core import Function, InputError, IRModule, Level, Problem, ScheduleError
from irkit.graph import GRAPH_LEVEL, ArrayData, GraphFunc, constants_of, parse_module, type_text
from irkit.ir import LOOP_LEVEL, Buffer, PrimFunc, parse, script
from irkit.schedule import Schedule, read_schedule
from irkit.transform import IR, VerificationFailed, functions_of, list_problems

FILE = "edited"
"""The name of the text in errors."""

Editable = PrimFunc | GraphFunc
EDITABLE = PrimFunc, GraphFunc


def is_editable(ir: IR) -> bool:
    """Return True if the text of a function or module can be edited."""
    return all(isinstance(func, EDITABLE) for func in functions_of(ir))


def level_of(ir: IR) -> Level:
    """Return the level of a function or a module: that of graphs, if it has one."""
    is_loops = all(isinstance(func, PrimFunc) for func in functions_of(ir))
    return LOOP_LEVEL if is_loops else GRAPH_LEVEL


def read_text(text: str, old: IR) -> IR:
    """Read a function or module that takes the place of another; large constants are those of the
    old one.

    Raises: IRKitError that says where the text is wrong, or why it cannot take that place.
    """
    if isinstance(old, PrimFunc):
        made: IR = parse(text, file=FILE)
    else:
        made = _module(text, old)
    if not isinstance(old, IRModule):
        made = _only(made)
    _check(made, old)
    return made


def _module(text: str, old: IR) -> IRModule:
    held = {data.digest: data for data in _constants(old)}
    present = {digest: data for digest, data in held.items() if not data.is_absent}
    made = parse_module(text, constants=present, absent=True, file=FILE)
    for data in _constants(made):
        if data.is_absent and data.digest not in held:
            raise InputError(
                f"no constant here has the digest {data.digest[:12]}…",
                hint="Use one of the digests of the text, or write the numbers.",
            )
    return made


def _constants(ir: IR) -> list[ArrayData]:
    graphs = [func for func in functions_of(ir) if isinstance(func, GraphFunc)]
    return [data for func in graphs for data in constants_of(func).values()]


def _only(ir: IR) -> Function:
    found = functions_of(ir)
    if len(found) != 1:
        raise InputError(f"the text has {len(found)} functions; expected one")
    return found[0]


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


def _check(made: IR, old: IR) -> None:
    expected = {func.name: func for func in functions_of(old)}
    found = {func.name: func for func in functions_of(made)}
    if set(found) != set(expected):
        raise InputError(_other_names(list(found), list(expected)))
    problems = tuple(_problems(made))
    if problems:
        raise VerificationFailed("this IR is invalid", problems, hint=list_problems(problems))
    for name, func in expected.items():
        if _types(found[name]) != _types(func):
            what = "parameters" if isinstance(func, PrimFunc) else "parameters or another result"
            which = f"the function {name!r}" if len(expected) > 1 else "the function"
            raise InputError(f"{which} has other {what}; only its body can be edited")


def _other_names(found: list[str], expected: list[str]) -> str:
    if len(found) == len(expected) == 1:
        return f"the function is named {found[0]!r}; expected {expected[0]!r}"
    return f"the functions are {', '.join(found) or 'none'}; expected {', '.join(expected)}"


def _problems(ir: IR) -> list[Problem]:
    if not isinstance(ir, IRModule):
        return level_of(ir).verify(ir)
    # Of a module, the graphs are asked about their calls, too.
    loops = [func for func in ir.functions.values() if isinstance(func, PrimFunc)]
    graph = GRAPH_LEVEL.verify(ir) if len(loops) < len(ir) else []
    return [*graph, *(problem for func in loops for problem in LOOP_LEVEL.verify(func))]


def _types(func: Function) -> list[object]:
    if isinstance(func, GraphFunc):
        return [type_text(each.type, script) for each in (*func.params, func.body.result)]
    assert isinstance(func, PrimFunc)
    shapes = [param.shape if isinstance(param, Buffer) else () for param in func.params]
    return [
        (str(param.dtype), [script(dim) for dim in shape])
        for param, shape in zip(func.params, shapes, strict=True)
    ]
