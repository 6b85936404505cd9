"""Samples with another pipeline than the default one: other orders, options and passes, within the
rules of order and the facts that passes need.
"""

from collections.abc import Callable, Sequence

import msgspec

from irkit.core import IRKitError
from irkit.fuzz.generators.sample import Sample
from irkit.fuzz.generators.schedules.schedule_samples import draw_trace
from irkit.fuzz.picks import Picks
from irkit.ir import PrimFunc
from irkit.passes.loop import convert_for_loops_to_serial, convert_ssa, instrument_bounds
from irkit.transform import AnyPass, Option, Phase, Pipeline, define_pass

_MOST_EDITS = 6
_EXTRA: tuple[AnyPass, ...] = (convert_ssa, convert_for_loops_to_serial, instrument_bounds)

# Marks that give passes work; threads keep the default order, which their meaning needs.
_MARKS = (
    *("vectorize", "unroll", "parallel", "split", "vectorize", "unroll", "double_buffer"),
    *("reorder", "fuse", "tile", "compute_at", "compute_inline", "cache_write", "set_scope"),
)
_NUMBERS = {
    "lanes": (4, 8, 2, 3, 5, 32, 1),
    "max_extent": (4, 16, 1, 2, 0),
    "auto_max_step": (16, 64, 4),
    "auto_max_depth": (1, 2, 0),
    "auto_max_extent": (4, 8, 65),
    "split_loop": (2, 0),
    "smallest": (1, 16, 256),
    "max_copies": (1, 2, 32),
    "max_steps": (1, 4, 64),
}


@define_pass(idempotent=True)
def keep_as_it_is(func: PrimFunc) -> PrimFunc:
    """Return the function: wherever this pass stands, nothing may change."""
    return func


def with_pipeline(sample: Sample, picks: Picks, *, hardly: bool) -> Sample:
    """Draw marks on the loops of a program, and passes in a legal order; ``hardly`` any if so."""
    assert isinstance(sample.ir, PrimFunc)
    if sample.expected[0] is not None and picks.below(4):
        trace, features = draw_trace(sample.ir, picks, _MARKS, most=4)
        # A mark that reorders a sum of special values could change them.
        if "rung:special of floats" not in sample.features:
            features = (*sample.features, *features)
            sample = msgspec.structs.replace(sample, schedule=trace, features=features)
    change = few if hardly else edited
    pipeline, features = change(sample.pipeline, picks)
    return msgspec.structs.replace(
        sample, kind="pipelines", pipeline=pipeline, features=(*sample.features, *features)
    )


def few(pipeline: Pipeline, picks: Picks) -> tuple[Pipeline, tuple[str, ...]]:
    """Remove most passes, or all, from the last on: native code is then made of blocks and of loops
    that do not begin at 0."""
    share = picks.pick((1, 4, 1, 2))
    for name in reversed(pipeline.names):
        try:
            pipeline = pipeline if picks.below(share) else pipeline.without(name)
        except IRKitError:  # A pass that is kept needs it, or it occurs twice.
            continue
    return pipeline, ("edit:few", *dict.fromkeys(f"pass:{name}" for name in pipeline.names))


def edited(pipeline: Pipeline, picks: Picks) -> tuple[Pipeline, tuple[str, ...]]:
    """Change a pipeline up to 6 times; an illegal change is left out."""
    features = dict[str, None]()
    for _ in range(1 + picks.below(_MOST_EDITS)):
        name, edit = picks.pick(_EDITS)
        try:
            pipeline = edit(pipeline, picks)
        except IRKitError:  # Against an order, or without a fact that a pass needs.
            features[f"refused edit:{name}"] = None
            continue
        features[f"edit:{name}"] = None
    passes = (f"pass:{name}" for name in pipeline.names)
    return pipeline, (*features, *dict.fromkeys(passes))


def _place(pipeline: Pipeline, p: AnyPass, picks: Picks) -> Pipeline:
    """Insert a pass anywhere."""
    phases = [[*phase.passes] for phase in pipeline.phases]
    at = picks.below(len(phases))
    phases[at].insert(picks.below(len(phases[at]) + 1), p)
    return _with(pipeline, phases)


def _with(pipeline: Pipeline, passes: Sequence[Sequence[AnyPass]]) -> Pipeline:
    phases = tuple(
        Phase(phase.number, phase.name, tuple(kept))
        for phase, kept in zip(pipeline.phases, passes, strict=True)
    )
    return msgspec.structs.replace(pipeline, phases=phases)


def _pass_of(pipeline: Pipeline, picks: Picks) -> AnyPass:
    placed = pipeline.placed
    if not placed:
        raise IRKitError("there is no pass")
    return picks.pick(placed)[1]


def _identity(pipeline: Pipeline, picks: Picks) -> Pipeline:
    return _place(pipeline, keep_as_it_is, picks)


def _repeat(pipeline: Pipeline, picks: Picks) -> Pipeline:
    return _place(pipeline, _pass_of(pipeline, picks), picks)


def _extra(pipeline: Pipeline, picks: Picks) -> Pipeline:
    p = picks.pick(_EXTRA)
    if p is instrument_bounds and "lower-blocks" in pipeline.names:
        return pipeline.insert(p, after="lower-blocks")  # It fits hardly anywhere else.
    return _place(pipeline, p, picks)


def _leave_out(pipeline: Pipeline, picks: Picks) -> Pipeline:
    return pipeline.without(_pass_of(pipeline, picks).name)


def _stop(pipeline: Pipeline, picks: Picks) -> Pipeline:
    return pipeline.stop_after(picks.pick((2, 2, 1, 2, 1, 0)))


def _move(pipeline: Pipeline, picks: Picks) -> Pipeline:
    """Move one pass a few positions forward or back, or anywhere."""
    places = [(at, p) for at, phase in enumerate(pipeline.phases) for p in phase.passes]
    if not places:
        raise IRKitError("there is no pass")
    index = picks.below(len(places))
    at, moved = places.pop(index)
    new = picks.below(len(places) + 1) if picks.one_in(3) else index + picks.pick((1, -1, 2, -2))
    new = min(max(new, 0), len(places))
    at = places[new][0] if new < len(places) else at
    places.insert(new, (at, moved))
    kept = [[p for where, p in places if where == at] for at in range(len(pipeline.phases))]
    return _with(pipeline, kept)


def _option(pipeline: Pipeline, picks: Picks) -> Pipeline:
    able = [p for _, p in pipeline.placed if any(_values(each) for each in p.parameters)]
    if not able:
        raise IRKitError("no pass has options")
    p = picks.pick(able)
    chosen = picks.pick([each for each in p.parameters if _values(each)])
    return pipeline.replace(p.name, p.using(**{chosen.name: picks.pick(_values(chosen))}))


def _values(option: Option) -> tuple[object, ...]:
    if isinstance(option.default, bool):
        return (not option.default,)
    return _NUMBERS.get(option.name, ())


_Edit = Callable[[Pipeline, Picks], Pipeline]
_EDITS: tuple[tuple[str, _Edit], ...] = (
    ("identity", _identity),
    ("option", _option),
    ("move", _move),
    ("repeat", _repeat),
    ("leave out", _leave_out),
    ("move", _move),
    ("option", _option),
    ("extra", _extra),
    ("move", _move),
    ("stop", _stop),
)
