"""Pipelines: numbered phases of passes, immutable, and checked when they are built."""

from collections.abc import Generator, Iterable, Mapping
from types import MappingProxyType
from typing import TypeVar, cast

import msgspec

from irkit.core import Function, IRKitError, IRModule, Level
from irkit.transform.define import AnyPass, Pass
from irkit.transform.facts import Fact
from irkit.transform.order import MissingFact, Order, PlacedPass, check_facts, check_order
from irkit.transform.registry import Registry
from irkit.transform.run import Apply, Verify, apply_here, facts_along, run_steps
from irkit.transform.spec import render_spec
from irkit.transform.step import IR, Step, functions_of

_IR = TypeVar("_IR", bound=Function | IRModule)
_NOTHING: Mapping[int, frozenset[int]] = MappingProxyType({})


class Phase(msgspec.Struct, frozen=True):
    """A numbered group of consecutive passes in a pipeline."""

    number: int
    name: str
    passes: tuple[AnyPass, ...] = ()


class Pipeline(msgspec.Struct, frozen=True):
    """Phases of passes over one level. Every change makes a new pipeline, which is checked at once.

    ``order`` holds pairs of pass names with reasons; ``facts`` are those that hold at the start.
    """

    level: Level
    phases: tuple[Phase, ...]
    order: tuple[Order, ...] = ()
    facts: tuple[Fact, ...] = ()

    def __post_init__(self) -> None:
        numbers = [phase.number for phase in self.phases]
        if sorted(set(numbers)) != numbers:
            raise IRKitError(f"phases must be numbered upwards, each once; found {numbers}")
        for phase in self.phases:
            for p in phase.passes:
                _check_pass(p, phase.number, self.level)
        _check_levels(self.facts, self.level, "the pipeline")
        placed = self.placed
        check_order(placed, self.order)
        check_facts(placed, self.facts)

    @property
    def placed(self) -> list[PlacedPass]:
        """Return the passes in the order they run, each with the number of its phase."""
        return [(phase.number, p) for phase in self.phases for p in phase.passes]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the passes in the order they run."""
        return tuple(p.name for _, p in self.placed)

    @property
    def gives(self) -> tuple[Fact, ...]:
        """The facts in force after all passes have run."""
        passes = [(phase.number, phase.name, p) for phase in self.phases for p in phase.passes]
        return facts_along(passes, self.facts)[-1] if passes else self.facts

    def phase(self, number: int) -> Phase:
        """Return a phase by its number."""
        for phase in self.phases:
            if phase.number == number:
                return phase
        listed = ", ".join(f"{phase.number} {phase.name}" for phase in self.phases)
        raise IRKitError(f"there is no phase {number!r}; the phases are: {listed or 'none'}")

    def insert(
        self, p: AnyPass, *, phase: int | None = None, before: str = "", after: str = ""
    ) -> "Pipeline":
        """Insert a pass at the end of a phase, or before or after the one pass of a name."""
        if (bool(before) + bool(after) > 1) or (phase is None and not before and not after):
            raise IRKitError(
                f"cannot place '{_name(p)}': needs a phase, or one of before and after"
            )
        if not before and not after:
            at = self.phase(phase if phase is not None else 0)
            return self._with_phase(at, (*at.passes, p))
        at, index = self._one(before or after, phase)
        index += 1 if after else 0
        return self._with_phase(at, (*at.passes[:index], p, *at.passes[index:]))

    def with_passes(self, pairs: Iterable[tuple[int, AnyPass]]) -> "Pipeline":
        """Insert each pass at the end of the phase given with it."""
        made = {phase.number: list(phase.passes) for phase in self.phases}
        for number, p in pairs:
            made[self.phase(number).number].append(p)
        # All at once: one of the passes can need a fact that another one gives.
        return self._with_phases(made)

    def without(self, name: str) -> "Pipeline":
        """Remove every pass of a name."""
        self._require(name)
        return self._with_phases(
            {ph.number: [p for p in ph.passes if p.name != name] for ph in self.phases}
        )

    def replace(self, name: str, p: AnyPass) -> "Pipeline":
        """Replace the one pass of a name, for example by itself with other options."""
        self._require(name)
        return self._with_phases(
            {
                phase.number: [p if old.name == name else old for old in phase.passes]
                for phase in self.phases
            }
        )

    def stop_after(self, phase: int) -> "Pipeline":
        """Remove the phases that come after one."""
        self.phase(phase)
        kept = tuple(each for each in self.phases if each.number <= phase)
        return msgspec.structs.replace(self, phases=kept)

    def since(self, phase: int) -> "Pipeline":
        """Return the phases after one, which begin with the facts in force there."""
        before = self.stop_after(phase) if self.phases else self
        kept = tuple(each for each in self.phases if each.number > phase)
        return msgspec.structs.replace(self, phases=kept, facts=before.gives)

    def then(self, other: "Pipeline") -> "Pipeline":
        """Append another pipeline of the same level.

        Its phases must have higher numbers, and the facts its passes need must be in force by then,
        even those it declares as given.
        """
        if other.level is not self.level:
            raise IRKitError(
                f"a pipeline of level {other.level.name!r} cannot follow one of level "
                f"{self.level.name!r}"
            )
        last = max((phase.number for phase in self.phases), default=-1)
        for phase in other.phases:
            if phase.number <= last:
                raise IRKitError(
                    f"phase {phase.number} {phase.name} cannot follow: the pipeline before it has "
                    f"phases up to {last}"
                )
        order = tuple(dict.fromkeys((*self.order, *other.order)))
        return msgspec.structs.replace(self, phases=(*self.phases, *other.phases), order=order)

    def text(self, known: Registry | None = None) -> str:
        """Return the phases as text that :func:`parse_pipeline` reads.

        Passes that are not in ``known``, if it is given, are written as ``module:function``.
        """
        return ";".join(
            f"{phase.number}:" + ",".join(_spec(p, known) for p in phase.passes)
            for phase in self.phases
        )

    def __str__(self) -> str:
        return self.text()

    def steps(
        self,
        ir: IR,
        *,
        verify: Verify = True,
        keep_applications: bool = False,
        time_rules: bool = False,
        disabled: Mapping[int, frozenset[int]] = _NOTHING,
        start: int = 0,
        apply: Apply = apply_here,
    ) -> Generator[Step, None, IR]:
        """Run the passes, one step at a time; to stop early, stop iterating.

        Function passes run on each function of their class, one function after another. With
        ``verify`` the level's rules and every fact in force are checked at the start and after each
        pass, or with "start" there only.
        ``disabled`` maps the index of a step to the numbers of the rewrites that must not happen.
        ``time_rules`` measures each rule, for the reports of the step.
        Indices count from ``start``. ``apply`` runs one pass, for example in a separate process.
        Raises: PassFailed.
        """
        return run_steps(
            self.level,
            [(phase.number, phase.name, p) for phase in self.phases for p in phase.passes],
            self.facts,
            ir,
            verify=verify,
            keep=keep_applications,
            timed=time_rules,
            disabled=disabled,
            start=start,
            apply=apply,
        )

    def run(self, ir: _IR, *, verify: Verify = True, apply: Apply = apply_here) -> _IR:
        """Run all passes and return the resulting IR."""
        steps = self.steps(ir, verify=verify, apply=apply)
        while True:
            try:
                next(steps)
            except StopIteration as stop:
                return cast(_IR, stop.value)

    def _with_phase(self, phase: Phase, passes: tuple[AnyPass, ...]) -> "Pipeline":
        return self._with_phases(
            {each.number: list(each.passes) for each in self.phases} | {phase.number: list(passes)}
        )

    def _with_phases(self, passes: Mapping[int, list[AnyPass]]) -> "Pipeline":
        phases = tuple(
            Phase(each.number, each.name, tuple(passes[each.number])) for each in self.phases
        )
        try:
            return msgspec.structs.replace(self, phases=phases)
        except MissingFact as error:
            left = {id(p) for phase in phases for p in phase.passes}
            out = [p for _, p in self.placed if id(p) not in left]
            error.name_givers(out, ", which this leaves out")
            raise

    def _require(self, name: str) -> None:
        if name not in self.names:
            listed = ", ".join(self.names) or "none"
            raise IRKitError(f"the pipeline has no pass {name!r}; it has: {listed}")

    def _one(self, name: str, phase: int | None) -> tuple[Phase, int]:
        self._require(name)
        found = [
            (each, index)
            for each in self.phases
            for index, p in enumerate(each.passes)
            if p.name == name and phase in (None, each.number)
        ]
        if len(found) != 1:
            where = f"in phase {phase}" if phase is not None else "in this pipeline"
            raise IRKitError(
                f"pass {name!r} occurs {len(found)} times {where}; expected once",
                hint="Say which phase." if phase is None else "",
            )
        return found[0]


def chain_steps(
    pipelines: Iterable[Pipeline],
    ir: IR,
    *,
    verify: bool = True,
    time_rules: bool = False,
    start: int = 0,
    apply: Apply = apply_here,
) -> Generator[Step, None, IR]:
    """Run pipelines one after the other, one step at a time, each unless there is no function of
    its level; the options are those of :meth:`Pipeline.steps`."""
    for pipeline in pipelines:
        if not any(isinstance(func, pipeline.level.functions) for func in functions_of(ir)):
            continue
        steps = pipeline.steps(ir, verify=verify, time_rules=time_rules, start=start, apply=apply)
        while True:
            try:
                yield next(steps)
            except StopIteration as stop:
                ir = stop.value
                break
            start += 1
    return ir


def _spec(p: AnyPass, known: Registry | None) -> str:
    if known is None or (p.name in known and known.find(p.name).function is p.function):
        return str(p)
    return render_spec(p.path, p.options)


def _check_levels(facts: Iterable[Fact], level: Level, who: str) -> None:
    for fact in facts:
        if fact.level != level.name:
            raise IRKitError(
                f"{who} names {fact.name}, a fact of level {fact.level!r}; "
                f"this pipeline is of level {level.name!r}"
            )


def _name(p: object) -> str:
    return str(getattr(p, "name", p))


def _check_pass(p: object, phase: int, level: Level) -> None:
    if not isinstance(p, Pass):
        raise IRKitError(
            f"phase {phase}: {p!r} is not a pass", hint="Decorate the function with @define_pass."
        )
    known = cast(AnyPass, p)
    functions = level.functions
    if not known.on_modules and not any(issubclass(cls, known.level) for cls in functions):
        takes = ", ".join(cls.__name__ for cls in functions)
        raise IRKitError(
            f"phase {phase}: '{known.name}' takes {known.level.__name__}, but level "
            f"{level.name!r} has {takes or 'no functions'}"
        )
    who = f"phase {phase}: '{known.name}'"
    _check_levels((*known.needs, *known.gives, *known.breaks), level, who)
