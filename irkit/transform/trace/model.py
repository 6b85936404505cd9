"""Traces: recorded lists of steps, the only input of the inspector and the debugging functions."""

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import overload

import msgspec

from irkit.core import IRKitError, Level, Names
from irkit.transform.step import Step
from irkit.transform.trace.load import read_trace
from irkit.transform.trace.save import write_trace
from irkit.transform.trace.state_texts import StoredTexts
from irkit.transform.trace.table import step_table

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Trace(Sequence[Step]):
    """An immutable sequence of steps, of one level or several, numbered from 0.

    It holds IR; text is printed on demand, with one table of ``names`` for all steps. ``versions``
    are those of the software that made it. ``damage`` says from where on its file could not be
    read. The IR of a step from a file is read when it is asked for, and then raises a FormatError
    if it is damaged. ``texts`` are those in its file, if it has all steps of it from the first on.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        *,
        title: str = "",
        versions: Mapping[str, str] = _NOTHING,
        damage: str = "",
        texts: StoredTexts | None = None,
    ) -> None:
        self.steps = tuple(
            step if step.index == at else msgspec.structs.replace(step, index=at)
            for at, step in enumerate(steps)
        )
        self.title = title
        self.damage = damage
        self.texts = texts
        self.names = Names()
        self.versions = MappingProxyType(dict(versions))

    @classmethod
    def of(
        cls, steps: Iterable[Step], *, title: str = "", versions: Mapping[str, str] = _NOTHING
    ) -> "Trace":
        """Run or take steps to their end and keep them; chain several pipelines to hold all."""
        made_with = {"python": platform.python_version(), **versions}
        return cls(steps, title=title, versions=made_with)

    @classmethod
    def load(cls, path: str | os.PathLike[str], levels: Iterable[Level]) -> "Trace":
        """Read a trace file that uses only these levels.

        A file whose process was killed has the steps that were done. Raises: FormatError if the
        file is damaged before its first step is complete, too new, too large, or not a trace.
        """
        read = read_trace(path, levels)
        return cls(
            read.steps,
            title=read.title,
            versions=read.versions,
            damage=read.damage,
            texts=read.texts,
        )

    def save(self, path: str | os.PathLike[str], levels: Iterable[Level] = ()) -> None:
        """Write a trace file, complete or not at all. ``levels`` are those of functions in modules
        that no step is of."""
        write_trace(path, self.steps, self.title, self.versions, levels)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        return f"<trace {self.title!r} of {len(self)} steps>"

    def _repr_html_(self) -> str:
        """Return the steps as a table for a notebook; those that changed nothing are grey."""
        return step_table(self.steps, self.title)

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions that steps are about, in order; a whole module has the empty name."""
        return tuple(dict.fromkeys(step.function for step in self.steps))

    def of_function(self, name: str) -> "Trace":
        """Return the steps about one function, renumbered.

        Raises: IRKitError that lists the functions if there is none of that name.
        """
        if name not in self.functions:
            listed = ", ".join(map(repr, self.functions)) or "none"
            raise IRKitError(f"the trace has no function {name!r}; it has: {listed}")
        kept = (step for step in self.steps if step.function == name)
        return Trace(kept, title=self.title, versions=self.versions)
