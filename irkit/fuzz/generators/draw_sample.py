"""The kinds of samples, and how often each form of them is drawn; the same choices draw the same
sample.

This is the only place that decides what is drawn and how often; the other modules make it.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import count
from math import isqrt

import msgspec

from irkit.fuzz.generators.aimed.aim import PassAim
from irkit.fuzz.generators.aimed.aimed_programs import aimed_function
from irkit.fuzz.generators.aimed.own_passes import own_aims
from irkit.fuzz.generators.graphs.graph_samples import draw_graph, graph_function
from irkit.fuzz.generators.loops.lane_loops import lane_function
from irkit.fuzz.generators.loops.loop_functions import loop_function, thread_function
from irkit.fuzz.generators.malformed.onnx_cases import malformed_model
from irkit.fuzz.generators.malformed.text_cases import malformed_text
from irkit.fuzz.generators.onnx_models.model_samples import draw_model, onnx_model
from irkit.fuzz.generators.onnx_models.suite_models import draw_illegal_model, draw_suite_model
from irkit.fuzz.generators.operators.operator_samples import draw_operators
from irkit.fuzz.generators.pipelines import with_pipeline
from irkit.fuzz.generators.programs.constant_samples import draw_constants
from irkit.fuzz.generators.programs.function_samples import draw_functions
from irkit.fuzz.generators.programs.lanes import vectorize_short_loops
from irkit.fuzz.generators.programs.program_samples import (
    draw_any_stages,
    draw_large,
    draw_loop_function,
    draw_seed_function,
    draw_values,
)
from irkit.fuzz.generators.programs.seed_functions import seed_functions
from irkit.fuzz.generators.sample import (
    LIMIT,
    LOOP_SAMPLES,
    SUBSYSTEM_KINDS,
    Kind,
    Numbered,
    Sample,
)
from irkit.fuzz.generators.schedules.schedule_samples import (
    draw_empty_ranges,
    draw_seed_schedule,
    draw_small_stages,
    with_schedule,
)
from irkit.fuzz.generators.schedules.stage_schedules import draw_staged
from irkit.fuzz.generators.seed_corpus.schedules import SCHEDULES
from irkit.fuzz.generators.seed_corpus.texts import BLOCK_PROGRAMS, THREADS
from irkit.fuzz.picks import Picks
from irkit.graph import script as graph_script
from irkit.ir import PrimFunc, script
from irkit.phases import GRAPH

Drawer = Callable[[Picks], Sample]

_BARE = 4
"""One program in this many is a bare loop function."""
_SEED_SCHEDULES = 40
"""One schedule in this many is of the seed corpus."""
DAMAGED_MODELS = 6
"""One model in this many is damaged; those take a third of the time of others."""
_LARGE = 30
"""One program of a campaign in this many has extents larger than any memory."""
_LED_EVERY = 7
"""One case in this many starts from the seed corpus; prime to the number of kinds, which take
turns."""


def _draw_aimed(picks: Picks) -> Sample:
    """Draw a program with what one of irkit's own passes looks for."""
    aim = picks.pick(own_aims())
    return draw_loop_function(picks, make=partial(aimed_function, aim=aim))


_some_loops = partial(loop_function, max_statements=3, wide=True)
_LOOP_FORMS: tuple[Drawer, ...] = (
    *(4 * (partial(draw_loop_function, make=_some_loops),)),
    partial(draw_loop_function, make=lane_function),
    *(3 * (partial(draw_loop_function, make=thread_function),)),
    *(8 * (_draw_aimed,)),
    draw_seed_function,
)
_FIXED = tuple(
    text.strip() + "\n"
    for text in (
        BLOCK_PROGRAMS["MATMUL_RELU"],
        BLOCK_PROGRAMS["CHAIN"],
        BLOCK_PROGRAMS["HALO"],
        BLOCK_PROGRAMS["BLUR"],
        *THREADS.values(),
    )
)


def _draw_program(picks: Picks) -> Sample:
    """Draw a program with arguments: mostly stages, one in four a bare loop function, and some that
    apply operators of topi, or operations or functions to special values or constants."""
    if picks.one_in(_BARE):
        return _draw_loops(picks)
    if picks.one_in(8):
        return draw_operators(picks)
    if picks.one_in(8):
        return picks.pick((draw_functions, draw_constants))(picks)
    sample = draw_values(picks) if picks.one_in(7) else draw_any_stages(picks)
    if not picks.one_in(6):
        return sample
    assert isinstance(sample.ir, PrimFunc)
    return msgspec.structs.replace(sample, ir=vectorize_short_loops(sample.ir))


def _draw_loops(picks: Picks) -> Sample:
    return picks.pick(_LOOP_FORMS)(picks)


def _draw_scheduled(picks: Picks) -> Sample:
    """Draw a program and a schedule: mostly random primitives, some directives for the stages of
    tensor expressions, or a schedule of the seed corpus. One program in eight has loops that may
    be empty."""
    if picks.one_in(_SEED_SCHEDULES):
        return draw_seed_schedule(picks)
    if picks.one_in(10):
        return draw_staged(picks)
    form = picks.below(8)
    if form == 1:
        return with_schedule(draw_empty_ranges(picks), picks)
    sample = draw_operators(picks, scheduled=False) if not form else draw_small_stages(picks)
    return with_schedule(sample, picks)


def _draw_pipeline(picks: Picks) -> Sample:
    """Draw a program and passes for it; one pipeline in six has few or none, since code is made of
    any stage."""
    hardly = picks.one_in(6)
    sample = _draw_loops(picks) if hardly and picks.below(2) else _draw_program(picks)
    return with_pipeline(sample, picks, hardly=hardly)


def _draw_onnx(picks: Picks) -> Sample:
    """Draw a model of some nodes, or one of ONNX's own suite, which has every operator."""
    return draw_suite_model(picks) if picks.below(4) else draw_model(picks)


def _draw_text(picks: Picks) -> Sample:
    """Draw IR text: as it is printed one time in four, else damaged. Printed text reads back as the
    same program; a damaged text is an error with a location, or a program like any other."""
    # What is read is not lowered, so none of these passes runs.
    if not picks.below(4):
        text = _printed(picks)
        # The text has only a digest of large constants, so it is a program without its data.
        return Sample("text", text, GRAPH, features=("mutation:none",), damaged="digest=" in text)
    data, names = malformed_text(picks, lambda: _printed(picks))
    features = tuple(f"mutation:{name}" for name in names)
    return Sample("text", data.decode(errors="replace"), GRAPH, features=features, damaged=True)


def _printed(picks: Picks) -> str:
    form = picks.below(8)
    if form in (5, 7):
        func, _, called = graph_function(picks, whole=True)
        return "\n".join(map(graph_script, (func, *called.values())))
    if form == 6:
        return picks.pick(_FIXED)
    func = _draw_program(picks).ir
    assert isinstance(func, PrimFunc)
    return script(func)


_NUMBERS = 600
"""How many choices a case of a subsystem has before the simplest ones follow."""


def _draw_numbers(kind: Kind, picks: Picks) -> Sample:
    """Draw the numbers of a case of a subsystem."""
    numbers = tuple(picks.below(LIMIT) for _ in range(_NUMBERS))
    return Sample(kind, Numbered(numbers), GRAPH)


_DRAWN: dict[Kind, Drawer] = {
    "programs": _draw_program,
    "schedules": _draw_scheduled,
    "pipelines": _draw_pipeline,
    "graphs": draw_graph,
    "onnx": _draw_onnx,
    "text": _draw_text,
    **{kind: partial(_draw_numbers, kind) for kind in SUBSYSTEM_KINDS},
}


def draw_sample(kind: Kind, picks: Picks) -> Sample:
    """Draw a sample.

    Raises: Unusable, with the reason, if the choices lead to nothing legal; WrongSchedule, an
    AssertionError, if a schedule primitive was refused but changed something, or crashed: a
    finding.
    """
    return _DRAWN[kind](picks)


def draw_case(kind: Kind, picks: Picks, aim: PassAim | None = None) -> Sample:
    """Draw a case of a campaign: a sample, or now and then a damaged file, or a program whose
    extents fit into no memory. With an ``aim``, half of the loop programs have what a pass under
    test looks for.

    Raises: what :func:`draw_sample` raises.
    """
    if kind == "programs" and picks.one_in(_LARGE):
        return draw_large(picks)
    if kind == "onnx" and picks.one_in(DAMAGED_MODELS):
        illegal = draw_illegal_model(picks) if picks.below(2) else None
        if illegal is not None:
            return illegal
        data, names = malformed_model(picks, lambda: _whole_model(picks))
        features = tuple(f"damage:{name}" for name in names)
        return Sample(kind, data, GRAPH, features=features, damaged=True)
    if aim is not None and kind in LOOP_SAMPLES and picks.below(2):
        return draw_loop_function(picks, make=partial(aimed_function, aim=aim))
    return draw_sample(kind, picks)


def _whole_model(picks: Picks) -> bytes:
    return onnx_model(picks, whole=True)[0].SerializeToString()


@cache
def choices_of_seeds(kind: Kind) -> tuple[tuple[int, ...], ...]:
    """List the first choices of :func:`draw_case` that select each function, or each whole
    schedule, of the seed corpus."""
    if kind == "programs":
        last = len(_LOOP_FORMS) - 1
        return tuple((0, _BARE - 1, last, n) for n in range(len(seed_functions())))
    if kind == "schedules":
        written = enumerate(SCHEDULES.values())
        return tuple((_SEED_SCHEDULES - 1, n, len(steps) - 1) for n, (_, steps) in written)
    return ()


def seed_choices(kind: Kind, seed: int, number: int) -> Sequence[int]:
    """Return the first choices of a case of a campaign.

    One case in seven starts from the seed corpus, in turn, so that all of it is tried: chance would
    leave a third out.
    """
    leads = () if number % _LED_EVERY else choices_of_seeds(kind)
    # The numbers of a kind go up by a fixed step, so a prime modulus reaches every entry.
    turn = (number // _LED_EVERY + seed) % _prime(len(leads))
    return leads[turn] if turn < len(leads) else ()


def _prime(least: int) -> int:
    """Return the first prime from a number on, at least 11."""
    return next(
        n for n in count(max(least, 11)) if all(n % factor for factor in range(2, isqrt(n) + 1))
    )
