"""The position of a pass under test in the pipeline."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from irkit.core import IRKitError, IRModule
from irkit.graph import GraphFunc
from irkit.phases import DEFAULT, GRAPH
from irkit.transform import AnyPass, Pipeline


class PassPosition:
    """A pass, and where it goes: the end of a phase, or before or after another pass.

    Without any of these, a pass that the pipeline already has stays where it is. Raises: IRKitError
    if it cannot stand there, or no position is known.
    """

    def __init__(
        self,
        p: AnyPass,
        *,
        phase: int | None = None,
        before: str = "",
        after: str = "",
        graph: bool | None = None,
    ) -> None:
        self.p = p
        self.where: Mapping[str, Any] = {
            name: value
            for name, value in (("phase", phase), ("before", before), ("after", after))
            if value not in (None, "")
        }
        on_graphs = issubclass(p.level, (GraphFunc, IRModule)) if graph is None else graph
        self.like = GRAPH if on_graphs else DEFAULT
        self.on_graphs = on_graphs
        if not self.where and p.name not in self.like.names:
            raise IRKitError(
                f"the position of {p.name!r} is not given",
                hint="Give a phase (0 to 3; of a graph 0 or 1), or the pass it stands before= or "
                "after=.",
            )
        self.pipeline: Pipeline = self.within(self.like)

    def within(self, pipeline: Pipeline) -> Pipeline:
        """Return a pipeline with the pass inserted."""
        if not self.where:
            return pipeline.replace(self.p.name, self.p)
        return pipeline.insert(self.p, **self.where)

    def fits(self, pipeline: Pipeline) -> bool:
        """Return True if the pass can stand in a pipeline."""
        try:
            self.within(pipeline)
        except IRKitError:
            return False
        return True

    @cached_property
    def text(self) -> str:
        """Return the position in words."""
        parts = [f"{name} {value}" for name, value in self.where.items()]
        return ", ".join(parts) or "in its place"

    def as_python(self) -> str:
        """Return the pipeline as Python source that makes it."""
        name = "GRAPH" if self.on_graphs else "DEFAULT"
        options = dict(self.p.options)
        loaded = f"load_pass({self.p.path!r}" + (f", {options!r})" if options else ")")
        if not self.where:
            return f"irkit.{name}.replace({self.p.name!r}, {loaded})"
        where = ", ".join(f"{key}={value!r}" for key, value in self.where.items())
        return f"irkit.{name}.insert({loaded}, {where})"
