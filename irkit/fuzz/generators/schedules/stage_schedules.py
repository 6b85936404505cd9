"""Samples scheduled stage by stage with ``te.create_schedule``, while they are still tensor
expressions; NumPy computes the expected results."""

from collections.abc import Callable

import msgspec

from irkit import te
from irkit.core import IRKitError, ScheduleError
from irkit.fuzz.generators.programs.program_samples import sample_of
from irkit.fuzz.generators.sample import Sample, Unusable
from irkit.fuzz.generators.schedules.attempt import WrongSchedule
from irkit.fuzz.generators.stages.stage_tensors import stage_tensors
from irkit.fuzz.generators.stages.theme import INTEGERS, SMALL, WHOLE
from irkit.fuzz.picks import Picks

_MOST_STAGES, _MOST_STEPS = 3, 6
_SCOPES = ("local", "global", "shared")
_THEMES = (SMALL, WHOLE, INTEGERS)
Handle = te.IterVar | te.StageLoop


class StageScheduleDraws:
    """A schedule of stages, and the loops that each stage has so far."""

    def __init__(self, picks: Picks, tensors: list[te.Tensor]) -> None:
        self.picks = picks
        self.outputs = [each for each in tensors if isinstance(each.op, te.ComputeOp)]
        self.inputs = [each for each in tensors if each not in self.outputs]
        self.sch = te.create_schedule(self.outputs)
        self.loops: dict[te.Operation, list[Handle]] = {}

    def stage(self) -> te.Stage:
        """Pick a stage, mostly one of the last."""
        return self.picks.pick(self.sch.stages[::-1])

    def loops_of(self, stage: te.Stage) -> list[Handle]:
        """List the loops of a stage, as far as they are known."""
        return self.loops.setdefault(stage.op, [*stage.axis, *stage.reduce_axis])

    def loop(self, stage: te.Stage) -> Handle:
        """Pick a loop of a stage. Raises: ScheduleError if it has none."""
        loops = self.loops_of(stage)
        if not loops:
            raise ScheduleError("there is no loop")
        return self.picks.pick(loops)


def _split(s: StageScheduleDraws) -> None:
    stage = s.stage()
    loop, by = s.loop(stage), s.picks.pick((2, 4, 3, 1))
    pair = stage.split(loop, by) if s.picks.below(2) else stage.split(loop, nparts=by)
    loops = s.loops_of(stage)
    at = loops.index(loop)
    loops[at : at + 1] = pair


def _fuse(s: StageScheduleDraws) -> None:
    stage = s.stage()
    loops = s.loops_of(stage)
    at = s.picks.below(max(1, len(loops) - 1))
    loops[at : at + 2] = [stage.fuse(*loops[at : at + 2])]


def _reorder(s: StageScheduleDraws) -> None:
    stage = s.stage()
    loops = s.loops_of(stage)
    left = list(loops)
    turned = [left.pop(-1 - s.picks.below(len(left))) for _ in loops]
    stage.reorder(*turned)
    loops[:] = turned


def _tile(s: StageScheduleDraws) -> None:
    stage = s.stage()
    loops = s.loops_of(stage)
    if len(loops) < 2:
        raise ScheduleError("there are no two loops")
    loops[:2] = stage.tile(loops[0], loops[1], s.picks.pick((2, 4)), s.picks.pick((2, 3)))


def _mark(s: StageScheduleDraws) -> None:
    stage = s.stage()
    mark: Callable[[Handle], None] = s.picks.pick((stage.vectorize, stage.unroll, stage.parallel))
    loop = s.loop(stage)
    mark(s.loops_of(stage)[-1] if mark == stage.vectorize else loop)


def _bind(s: StageScheduleDraws) -> None:
    stage = s.stage()
    stage.bind(s.loop(stage), s.picks.pick(("threadIdx.x", "blockIdx.x", "vthread")))


def _compute_at(s: StageScheduleDraws) -> None:
    parent = s.stage()
    found = [x for x in s.sch.stages if any(t.op is x.op for t in parent.op.input_tensors)]
    stage = s.picks.pick(found or s.sch.stages)
    stage.compute_at(parent, s.loop(parent))


def _place(s: StageScheduleDraws) -> None:
    stage = s.stage()
    s.picks.pick((stage.compute_inline, stage.compute_root))()


def _keep(s: StageScheduleDraws) -> None:
    stage, form = s.stage(), s.picks.below(4)
    if form == 0:
        stage.set_scope(s.picks.pick(_SCOPES))
    elif form == 1:
        stage.double_buffer()
    elif form == 2:
        stage.transform_layout(lambda *at: at[::-1])
    elif stage.axis:
        stage.storage_align(s.picks.pick(stage.axis), 8, s.picks.below(2))


def _cache_read(s: StageScheduleDraws) -> None:
    stage = s.stage()
    reads = stage.op.input_tensors
    if not reads:
        raise ScheduleError("it reads nothing")
    s.sch.cache_read(s.picks.pick(reads), s.picks.pick(_SCOPES), [stage.op])


def _cache_write(s: StageScheduleDraws) -> None:
    s.sch.cache_write(s.picks.pick(s.outputs), s.picks.pick(_SCOPES))


def _rfactor(s: StageScheduleDraws) -> None:
    found = [each for each in s.outputs if each.op.reduce_axis]
    if not found:
        raise ScheduleError("nothing reduces")
    tensor = s.picks.pick(found)
    s.sch.rfactor(tensor, s.picks.pick(tensor.op.reduce_axis), s.picks.below(2))


DIRECTIVES: dict[str, Callable[[StageScheduleDraws], None]] = {
    **{"split": _split, "compute_at": _compute_at, "reorder": _reorder, "mark": _mark},
    **{"fuse": _fuse, "tile": _tile, "cache_write": _cache_write, "cache_read": _cache_read},
    **{"place": _place, "rfactor": _rfactor, "bind": _bind, "keep": _keep},
}
"""The function that draws each kind of directive."""
_NAMES = tuple(DIRECTIVES)


def draw_staged(picks: Picks) -> Sample:
    """Draw a program of stages and up to 6 directives; a refused one changes nothing.

    Raises: Unusable if the accepted directives do not fit all parameters.
    """
    theme = picks.pick(_THEMES)
    tensors = stage_tensors(picks, _MOST_STAGES, theme)
    s = StageScheduleDraws(picks, tensors)
    names, done = dict[str, None](), 0
    for _ in range(1 + picks.below(_MOST_STEPS)):
        name = picks.pick(_NAMES)
        before = s.sch.func
        try:
            DIRECTIVES[name](s)
        except ScheduleError as error:
            if s.sch.func is not before:
                raise _wrong(s, name, "was refused but changed something", done) from error
            continue
        except Exception as error:
            raise _wrong(s, name, f"{type(error).__name__}: {error}", done) from error
        done += 1
        names[f"staged:{name}"] = None
    try:
        func = s.sch.lower(tensors)
    except IRKitError as error:
        raise Unusable(f"not for these parameters: {error}") from error
    sample = sample_of(func, tensors, picks, theme)
    features = (*sample.features, *names)
    return msgspec.structs.replace(sample, kind="schedules", features=features)


def _wrong(s: StageScheduleDraws, name: str, reason: str, done: int) -> WrongSchedule:
    """Return the error for a wrong directive, with the directives before it."""
    made = WrongSchedule(
        f"{name} {reason}\n\n{s.sch.trace.as_python()}\nmade\n\n{s.sch.func.script()}"
    )
    made.size = len(s.sch.stages), done + 1
    return made
