"""Record the primitives of a schedule: each becomes a step of the trace, is checked, and is undone
if it fails."""

import functools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

import msgspec

from irkit.core import (
    Function,
    IRKitError,
    IRModule,
    ScheduleError,
    Span,
    analysis,
    current_recorder,
    deep_recursion,
    user_span,
)
from irkit.ir import Buffer, Expr, PrimFunc, Stmt, as_scheduled, map_below, statements, verify
from irkit.schedule.arguments.builtin_intrinsics import builtin_intrinsics
from irkit.schedule.arguments.index_map import RecordedMap, as_index_map
from irkit.schedule.arguments.intrinsics import Intrinsics
from irkit.schedule.arguments.reference_check import reference_check
from irkit.schedule.checks.memory_scopes import check_scopes
from irkit.schedule.checks.private_memory import check_private
from irkit.schedule.checks.shared_memory import check_shared
from irkit.schedule.checks.unordered_loops import check_meetings
from irkit.schedule.trace.differential_check import DifferentialCheck, Reference
from irkit.schedule.trace.encoder import Encoder, buffer_named, expr_of
from irkit.schedule.trace.listing import listing
from irkit.schedule.trace.replay_files import store_replay, stored_replay
from irkit.schedule.trace.replay_memo import REPLAYS, Key, Replay, replay_key
from irkit.schedule.trace.schedule_trace import MapText, ScheduleTrace, TraceStep, Value
from irkit.transform import VerificationFailed, list_problems

Check = Literal["verify", "each", "off"]
_P = ParamSpec("_P")
_R = TypeVar("_R")

PRIMITIVES: dict[str, Callable[..., Any]] = {}
"""The methods that a trace may call, by name."""


class TracedSchedule:
    """A module, the function of it that is being scheduled, and the steps so far.

    Raises: VerificationFailed if that function is invalid.

    ``check`` decides what happens after every primitive: ``verify`` runs the verifier; ``each``
    also runs the function on small integers and compares the results with the original ones, or
    with those of ``reference`` (see ``te.numpy_reference``); ``off`` does nothing. ``intrinsics``
    are available to tensorize by name.
    """

    def __init__(
        self,
        mod: IRModule | PrimFunc,
        function: str = "main",
        *,
        check: Check = "verify",
        seed: int = 0,
        intrinsics: Intrinsics | None = None,
        reference: Reference | None = None,
    ) -> None:
        if check not in ("verify", "each", "off"):
            raise IRKitError(f"check must be 'verify', 'each' or 'off', found {check!r}")
        self._mod = IRModule({mod.name: mod}) if isinstance(mod, Function) else mod
        self._check: Check = check
        self._intrinsics = builtin_intrinsics() if intrinsics is None else intrinsics
        self._steps: list[TraceStep] = []
        self._encoder = Encoder()
        self._depth = 0
        self._drawn: Value = None
        self._random = random.Random(seed)
        self._differential_checks: dict[str, DifferentialCheck] = {}
        self._reference = reference
        self._work_on(mod.name if isinstance(mod, Function) else function)

    @property
    def func(self) -> PrimFunc:
        """The current function."""
        return self._func

    @property
    def written(self) -> PrimFunc:
        """The function as it was before the first step."""
        func = self._mod[self._name]
        assert isinstance(func, PrimFunc)
        return func

    @property
    def mod(self) -> IRModule:
        """The module with the current function."""
        return self._mod.with_functions({self._name: self._func})

    @property
    def trace(self) -> ScheduleTrace:
        """The steps so far, as data."""
        return ScheduleTrace(tuple(self._steps))

    def expr(self, text: str) -> Expr:
        """Parse an expression over the shape variables of the function."""
        return expr_of(self._func, text)

    def buffer(self, name: str, at: int = 0) -> Buffer:
        """Return the ``at``-th buffer of a name; parameters come first, then text order."""
        return buffer_named(self._func, name, at)

    def replay(self, trace: ScheduleTrace) -> None:
        """Run the steps of a trace on this schedule: as one, without its checks, if the very same
        replay was legal before in this process, or in another of this user that kept it in the
        private cache.

        Raises: ScheduleError naming the step if one is not legal here.
        """
        key = self._replay_key(trace)
        known = None if key is None else REPLAYS.get(key)
        if key is not None and known is None:
            known = stored_replay(self._func, trace, self._check)
            if known is not None:
                REPLAYS.keep(key, known)
        found = None if known is None else known.on(self._func)
        if known is not None and found is not None:
            self._func, self._encoder = found
            origin = user_span(kind="schedule")
            where = f"{origin.file}:{origin.line}" if origin.file else ""
            self._steps = [msgspec.structs.replace(s, where=where) for s in known.steps]
            return
        start, state = self._func, self._random.getstate()
        for _ in self.replaying(trace):
            pass
        if key is not None and self._random.getstate() == state:
            steps = tuple(self._steps)
            made = Replay(start, self._func, steps, self._encoder.copy())
            REPLAYS.keep(key, made)
            store_replay(made, trace, self._check)

    def _replay_key(self, trace: ScheduleTrace) -> Key | None:
        """Return what a replay is known by, or None if more than the function decides about it."""
        special = (
            self._steps
            or self._depth
            or self._check == "each"
            or len(self._mod.functions) != 1
            or self._intrinsics is not builtin_intrinsics()
            or current_recorder() is not None  # Which can forbid rewrites.
            or any(step.primitive == "work_on" for step in trace.steps)
        )
        return None if special else replay_key(self._func, trace, self._check, PRIMITIVES)

    def replaying(
        self, trace: ScheduleTrace, found: dict[str, Any] | None = None
    ) -> Iterator[TraceStep]:
        """Run the steps of a trace one by one, and yield each afterwards.

        ``found`` maps names to the results of earlier steps, and is extended.
        """
        found = {} if found is None else found
        for number, step in enumerate(trace.steps, 1):
            method = PRIMITIVES.get(step.primitive)
            if method is None:
                raise ScheduleError(f"step {number}: unknown primitive {step.primitive!r}")
            try:
                func = self._func
                args = [self._encoder.decode(func, arg, found) for arg in step.args]
                options = {k: self._encoder.decode(func, v, found) for k, v in step.options}
                if step.drawn is not None:
                    options["decision"] = self._encoder.decode(func, step.drawn, found)
                given: Any = method(self, *args, **options)
            except ScheduleError as error:
                error.add_note(f"at step {number} of the schedule: {step}")
                raise
            except (TypeError, ValueError, AttributeError) as error:
                raise ScheduleError(
                    f"step {number} of the schedule has invalid arguments: {step}: {error}"
                ) from error
            results = cast("list[Any]", given) if step.several else [given]
            if step.results and len(results) != len(step.results):
                raise ScheduleError(
                    f"step {number} returned {len(results)} results, expected "
                    f"{len(step.results)}: {step}"
                )
            found.update(zip(step.results, results, strict=False))
            yield step

    def _work_on(self, name: str) -> None:
        func = self._mod.functions.get(name)
        if func is None:
            known = ", ".join(self._mod.functions)
            raise IRKitError(f"the module has no function {name!r}; it has: {known}")
        if not isinstance(func, PrimFunc):
            raise IRKitError(f"{name!r} is not a loop function, so it cannot be scheduled")
        if not _is_valid(func):
            problems = tuple(verify(func))
            raise VerificationFailed(
                f"{name!r} is invalid, so it cannot be scheduled",
                problems,
                hint=list_problems(problems),
            )
        self._name: str = name
        self._func: PrimFunc = func
        if self._check == "each" and name not in self._differential_checks:
            reference = None if self._differential_checks else self._reference
            self._differential_checks[name] = DifferentialCheck(func, reference)

    def _change(
        self, method: Callable[..., _R], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> _R:
        """Run a primitive, and undo all of it if it fails."""
        if self._depth:
            return method(self, *args, **kwargs)
        name = method.__name__
        args = [as_index_map(arg) for arg in args]
        kwargs = {key: as_index_map(value) for key, value in kwargs.items()}
        before, kept = self._func, (self._mod, self._name)
        self._depth += 1
        self._drawn = None
        done = False
        try:
            encoder = self._encoder.copy()
            encoded, options = self._encoded(encoder, args, kwargs)
            implied = encoder.implied()
            origin = user_span(kind="schedule")
            result = method(self, *args, **kwargs)
            self._finish(before, name, origin)
            if self._name == kept[1] and self._drawn is None:
                self._func = as_scheduled(self._func)
            step = _step(name, encoded, options, encoder, result, self._drawn)
            done = True
        except ScheduleError as error:
            if error.listing is None:
                message = error.message.split("\n", 1)[0]
                error.listing = functools.partial(listing, before, error.at, message)
            raise
        finally:
            self._depth -= 1
            if not done:
                self._func, (self._mod, self._name) = before, kept
        where = f"{origin.file}:{origin.line}" if origin.file else ""
        self._encoder = encoder
        self._steps.extend((*implied, msgspec.structs.replace(step, where=where)))
        return result

    def _record_lookup(
        self, name: str, result: object, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        if self._depth or self._encoder.knows(result):
            return
        encoded, options = self._encoded(self._encoder, args, kwargs)
        self._steps.extend(self._encoder.implied())
        self._steps.append(_step(name, encoded, options, self._encoder, result))

    def _encoded(
        self, encoder: Encoder, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Value, ...], tuple[tuple[str, Value], ...]]:
        return (
            tuple(encoder.encode(self._func, arg) for arg in args),
            tuple((key, encoder.encode(self._func, value)) for key, value in kwargs.items()),
        )

    def _finish(self, before: PrimFunc, primitive: str, origin: Span) -> None:
        """Add the step to the span of each new statement, and check the function."""
        if self._func is before:
            return
        name = f"{primitive}#{len(self._steps) + 1}"
        # Stamp before checking: the next primitive asks for the same analyses of that function.
        self._func = _stamped(self._func, before, name, origin)
        check_scopes(self._func, primitive)
        check_shared(self._func, primitive)
        check_private(before, self._func, primitive)
        check_meetings(before, self._func, primitive)
        if self._check != "off":
            problems = verify(self._func)
            assert not problems, f"{primitive} made IR that does not verify: {problems}"
        if self._check == "each":
            self._differential_checks[self._name].compare(self._func, primitive)


@analysis
def _is_valid(func: PrimFunc) -> bool:
    return not verify(func)


_S = TypeVar("_S", bound=TracedSchedule)


def primitive(
    method: Callable[Concatenate[_S, _P], _R],
) -> Callable[Concatenate[_S, _P], _R]:
    """Decorate a method as a primitive: recorded, checked, and undone if it fails.

    Of primitives that call each other only the outermost is recorded.
    """

    check = reference_check(method)

    @functools.wraps(method)
    def recorded(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        check((self, *args), kwargs)
        return self._change(method, args, kwargs)  # pyright: ignore[reportPrivateUsage] -- a mixin

    PRIMITIVES[method.__name__] = recorded
    return recorded


def lookup(
    method: Callable[Concatenate[_S, _P], _R],
) -> Callable[Concatenate[_S, _P], _R]:
    """Decorate a method as a look-up: recorded if it returns something that the trace has no name
    for."""

    check = reference_check(method)

    @functools.wraps(method)
    def recorded(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        check((self, *args), kwargs)
        result = method(self, *args, **kwargs)
        self._record_lookup(method.__name__, result, args, kwargs)  # pyright: ignore[reportPrivateUsage] -- a mixin
        return result

    PRIMITIVES[method.__name__] = recorded
    return recorded


def _step(
    name: str,
    args: tuple[Value, ...],
    options: tuple[tuple[str, Value], ...],
    encoder: Encoder,
    result: object,
    drawn: Value = None,
) -> TraceStep:
    results = tuple(encoder.name(result))
    several = isinstance(result, (list, tuple))
    args, options = (
        _with_map_text(args),
        tuple((key, _with_map_text((value,))[0]) for key, value in options),
    )
    if drawn is not None:  # The random decision replaces the one that was passed.
        options = tuple(each for each in options if each[0] != "decision")
    return TraceStep(name, args, options, results, several, drawn)


def _with_map_text(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Replace index maps by their text; their rank is known after they have run."""
    return tuple(
        MapText(value.written()) if isinstance(value, RecordedMap) else value for value in values
    )


def _stamped(func: PrimFunc, before: PrimFunc, name: str, origin: Span) -> PrimFunc:
    """Complete the spans of the statements that a primitive made: add the step and the user's
    line. What was there ``before`` is not visited; what is new and has no span gets that of the new
    statement around it."""
    old = statements(before)
    spans: dict[int, Span] = {}
    made: dict[Stmt, Stmt] = {}

    def complete(span: Span | None) -> Span | None:
        if span is None or span.kind != "schedule" or "#" in span.name:
            return None
        if id(span) not in spans:
            spans[id(span)] = Span("schedule", name, origin.file, origin.line, parent=span.parent)
        return spans[id(span)]

    def stamped(stmt: Stmt, around: Span | None) -> Stmt:
        if stmt in old:
            return stmt
        known = made.get(stmt)
        if known is None:
            span = around if stmt.span is None else complete(stmt.span)
            below = map_below(stmt, lambda inner: stamped(inner, span))
            known = made[stmt] = below if span is None else below.replace(span=span)
        return known

    with deep_recursion:
        return func.replace(body=stamped(func.body, None))
