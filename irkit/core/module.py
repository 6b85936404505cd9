"""Functions of any level side by side, and what a level is."""

from collections.abc import Callable, Iterator, Mapping
from functools import singledispatch
from types import MappingProxyType
from typing import Any, Protocol

import msgspec

from irkit.core.errors import IRKitError
from irkit.core.node import Node
from irkit.core.text.names import Names
from irkit.core.text.tokens import page


class Function(Node, frozen=True, eq=False, weakref=True):
    """Be the base of functions of every level. Analyses cache on their identity, weakly."""

    name: str

    def script(self, *, names: Names | None = None) -> str:
        """Print as text that parses back; ``names`` is the table of a trace, where what was printed
        before keeps its name."""
        return print_function(self, names=names)

    def __str__(self) -> str:
        return self.script()

    def _repr_html_(self) -> str:
        """Show the text in a notebook."""
        return page(self.script())


@singledispatch
def print_function(func: Function, *, names: Names | None = None) -> str:
    """Print a function as its level does; the printer of a level registers itself here, so that
    what a function is does not depend on how it is written down."""
    raise NotImplementedError(f"no printer is registered for {type(func).__name__}")


class Problem(msgspec.Struct, frozen=True):
    """What a verifier found: a sentence, and the node it is about."""

    message: str
    node: Node | None = None

    def __str__(self) -> str:
        span = getattr(self.node, "span", None)
        return f"{span}: {self.message}" if span is not None else self.message


class IRModule(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """An immutable mapping of names to functions; graph functions and loop functions may stand side
    by side."""

    functions: Mapping[str, Function] = msgspec.field(default_factory=dict[str, Function])

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "functions", MappingProxyType(dict(self.functions)))

    def __getitem__(self, name: str) -> Function:
        try:
            return self.functions[name]
        except KeyError:
            known = ", ".join(self.functions) or "none"
            raise IRKitError(f"the module has no function {name!r}; it has: {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def with_functions(self, changes: Mapping[str, Function | None]) -> "IRModule":
        """Replace, add, or (with None) drop functions; the same module back if nothing differs."""
        merged: dict[str, Any] = {**self.functions, **changes}
        kept = {name: func for name, func in merged.items() if func is not None}
        same = len(kept) == len(self) and all(
            self.functions.get(name) is func for name, func in kept.items()
        )
        return self if same else IRModule(kept)

    def script(self, *, names: Names | None = None) -> str:
        """Print every function, in order."""
        return "\n".join(func.script(names=names) for func in self.functions.values())

    def _repr_html_(self) -> str:
        """Show the text in a notebook."""
        return page(self.script())


class Codec(msgspec.Struct, frozen=True):
    """Say how values of one class stand in a file: as plain data (numbers, text, bytes, None and
    tuples or lists of them) and back. ``unpack`` meets hostile data and answers with ValueError."""

    name: str
    cls: type[Any]
    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


class Script(Protocol):
    """Print a function of a level; ``names`` as in :meth:`Function.script`."""

    def __call__(self, node: Any, /, *, names: Names | None = None) -> str: ...


class Listing(msgspec.Struct, frozen=True):
    """The printed lines of a function, and on which (from 1) each node begins, by ``id``; the
    function itself stands where its ``def`` does."""

    lines: list[str]
    starts: dict[int, int]


class List(Protocol):
    """Print a function as lines; ``names`` as in :meth:`Function.script`."""

    def __call__(self, func: Any, /, *, names: Names | None = None) -> Listing: ...


class Level(msgspec.Struct, frozen=True):
    """Tell the pass machinery what it must know of an IR: how to verify, print, read and compare
    it, and its node classes.

    ``signature`` gives what no pass may change: a node, data, or a tuple of them; ``listing``
    prints
    as ``script`` does and says on which line each node begins; ``symbols`` lists what a function
    introduces, in the order in which names are given, and takes a memo for it or None. ``codecs``
    say how data
    that is not plain is written to a trace file.
    """

    name: str
    verify: Callable[[Any], list[Problem]]
    script: Script
    parse: Callable[[str], Any]
    same: Callable[[Any, Any], bool]
    nodes: tuple[type[Node], ...]
    signature: Callable[[Any], object] | None = None
    listing: List | None = None
    symbols: Callable[[Any, Any], list[Node]] | None = None
    codecs: tuple[Codec, ...] = ()

    @property
    def functions(self) -> tuple[type[Function], ...]:
        """List the classes of functions among the nodes."""
        return tuple(cls for cls in self.nodes if issubclass(cls, Function))
