"""The pipelines that a model goes through, and how passes are placed in them."""

from collections.abc import Iterable

import msgspec

from irkit.core import IRKitError
from irkit.phases.default import DEFAULT
from irkit.phases.graph import GRAPH
from irkit.phases.legalize import LEGALIZE, PLACED
from irkit.transform import AnyPass, Phase, Pipeline, PlacedSpec, Registry, parse_placed


class Flow(msgspec.Struct, frozen=True):
    """The three pipelines from a model to the loops that code is generated from."""

    graph: Pipeline = GRAPH
    loops: Pipeline = DEFAULT
    legalize: Pipeline = PLACED

    @property
    def for_targets(self) -> Pipeline:
        """Return the legalisation that a target gets: irkit's own passes, then those placed."""
        own = [p for _, p in LEGALIZE.placed if p.name not in self.legalize.names]
        phases = tuple(
            Phase(each.number, each.name, (*own, *each.passes) if at == 0 else each.passes)
            for at, each in enumerate(self.legalize.phases)
        )
        return msgspec.structs.replace(self.legalize, phases=phases)

    @property
    def lowering(self) -> Pipeline:
        """Return the pipeline of a kernel: the phases, then the legalisation of the target."""
        return self.loops.then(self.legalize)

    @property
    def pipelines(self) -> tuple[Pipeline, ...]:
        """Return the pipelines in the order they run."""
        return (self.graph, self.loops, self.legalize)

    def without(self, names: Iterable[str]) -> "Flow":
        """Return the flow without the passes of some names, wherever they run.

        Raises: IRKitError if no pass has a name, or if another pass needs what it gives.
        """
        flow = self
        for name in names:
            found = {
                field: pipeline.without(name)
                for field, pipeline in flow._named().items()
                if name in pipeline.names
            }
            if not found:
                raise _no_pass(flow, name)
            flow = msgspec.structs.replace(flow, **found)
        return flow

    def with_placed(self, texts: Iterable[str], registry: Registry) -> "Flow":
        """Return the flow with the passes that texts such as ``1:simplify`` place.

        Raises: ParseError that points at the column; IRKitError for a name or a phase that does
        not exist.
        """
        placed = [parse_placed(text) for text in texts]
        for place in placed:
            _field(place)  # Before its name, which is another one if the place was forgotten.
        found = [(place, registry.resolve(place.spec)) for place in placed]
        at_ends = [(place, p) for place, p in found if not place.beside]
        flow = self
        # All passes at ends of phases at once: one may need a fact that another gives.
        for field in ("graph", "loops", "legalize"):
            pairs = [(place, p) for place, p in at_ends if _field(place) == field]
            if pairs:
                flow = flow._at_ends(field, pairs)
        for place, p in found:
            if place.beside:
                flow = flow._beside(place, p)
        return flow

    def _named(self) -> dict[str, Pipeline]:
        return {"graph": self.graph, "loops": self.loops, "legalize": self.legalize}

    def _ready(self, field: str) -> Pipeline:
        """Return a pipeline to insert into; the legalisation begins with the facts of the loops."""
        pipeline = self._named()[field]
        if field == "legalize":
            return msgspec.structs.replace(pipeline, facts=self.loops.gives)
        return pipeline

    def _at_ends(self, field: str, pairs: list[tuple[PlacedSpec, AnyPass]]) -> "Flow":
        pipeline = self._ready(field)
        first = pipeline.phases[0].number if pipeline.phases else 0
        numbered = [(first if place.phase is None else place.phase, p) for place, p in pairs]
        try:
            made = pipeline.with_passes(numbered)
        except IRKitError as error:
            if field == "loops" and error.message.startswith("there is no phase"):
                error.hint = "'graph:NAME' runs before them, 'legalize:NAME' after them."
            raise
        return msgspec.structs.replace(self, **{field: made})

    def _beside(self, place: PlacedSpec, p: AnyPass) -> "Flow":
        fields = [_field(place)] if place.level or place.phase is not None else list(self._named())
        holding = [field for field in fields if place.name in self._named()[field].names]
        if not holding:
            raise _no_pass(self, place.name)
        pipeline = self._ready(holding[0])
        _check_one_phase(pipeline, place)
        if place.beside == "before":
            made = pipeline.insert(p, phase=place.phase, before=place.name)
        else:
            made = pipeline.insert(p, phase=place.phase, after=place.name)
        return msgspec.structs.replace(self, **{holding[0]: made})


def _field(place: PlacedSpec) -> str:
    if place.level not in ("", "graph", "legalize"):
        raise IRKitError(
            f"there is no place {place.level!r} for a pass",
            hint="A place is the number of a phase, graph or legalize, before=NAME or after=NAME, "
            f"or both, as in 1/before=NAME; '0:{place.level}:{place.spec.name}' places a function "
            "of a module.",
            span=place.spec.span,
        )
    return place.level or "loops"


def _check_one_phase(pipeline: Pipeline, place: PlacedSpec) -> None:
    """Raise IRKitError if a place beside a pass without a phase is ambiguous."""
    phases = [str(number) for number, p in pipeline.placed if p.name == place.name]
    if place.phase is None and len(phases) > 1:
        level = f"{place.level}." if place.level else ""
        raise IRKitError(
            f"pass {place.name!r} runs {len(phases)} times, in phases {' and '.join(phases)}; "
            f"'{place.beside}={place.name}' must say which",
            hint=f"Put the phase before a slash, as in "
            f"'{level}{phases[0]}/{place.beside}={place.name}:{place.spec.name}'.",
            span=place.spec.span,
        )


def _no_pass(flow: Flow, name: str) -> IRKitError:
    named = zip(("graph", "phases", "legalize"), flow.pipelines, strict=True)
    listed = "; ".join(f"{where}: {', '.join(each.names) or 'none'}" for where, each in named)
    return IRKitError(f"no pipeline has a pass {name!r}", hint=f"They have: {listed}")
