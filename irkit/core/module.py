"""Functions of any level, modules of them, and the description of a level."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, singledispatch
from types import MappingProxyType
from typing import Any, Protocol

import msgspec

from irkit.core.errors import IRKitError
from irkit.core.node import Node
from irkit.core.text.names import Names
from irkit.core.text.show import show_text
from irkit.core.text.tokens import text_to_html


class Function(Node, frozen=True, eq=False, weakref=True):
    """Base class of functions of every level. Analyses are cached by its identity, weakly."""

    name: str

    def script(self, *, names: Names | None = None) -> str:
        """Return the function as text that parses back.

        ``names`` is the name table of a trace, which lets known symbols keep their printed names.
        """
        return print_function(self, names=names)

    def __str__(self) -> str:
        return self.script()

    def _repr_html_(self) -> str:
        """Return the text as HTML for a notebook."""
        return text_to_html(self.script())

    def show(self) -> None:
        """Print the text: in colour on a terminal, as highlighted text in a notebook."""
        show_text(self.script(), self._repr_html_)


@singledispatch
def print_function(func: Function, *, names: Names | None = None) -> str:
    """Print a function with the printer that its level registered for its class."""
    raise NotImplementedError(f"no printer is registered for {type(func).__name__}")


class Problem(msgspec.Struct, frozen=True):
    """A problem found by a verifier: a sentence, and the node it is about."""

    message: str
    node: Node | None = None

    def __str__(self) -> str:
        span = getattr(self.node, "span", None)
        return f"{span}: {self.message}" if span is not None else self.message


class IRModule(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """An immutable mapping of names to functions, which can be of different levels."""

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
        """Replace, add, or (with None) remove functions; return the same module if none differs."""
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
        """Return the text as HTML for a notebook."""
        return text_to_html(self.script())

    def show(self) -> None:
        """Print the text: in colour on a terminal, as highlighted text in a notebook."""
        show_text(self.script(), self._repr_html_)


class Codec(msgspec.Struct, frozen=True):
    """Conversion of values of one class to plain data and back, for files.

    Plain data is numbers, text, bytes, None, and tuples or lists of them. ``unpack`` must raise
    ValueError on malformed data, which can come from an untrusted file.
    """

    name: str
    cls: type[Any]
    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


class Script(Protocol):
    """Printer of functions of one level; ``names`` as in :meth:`Function.script`."""

    def __call__(self, node: Any, /, *, names: Names | None = None) -> str: ...


class Listing(msgspec.Struct, frozen=True):
    """Printed lines of a function, and the line (from 1) on which each node begins, by ``id``.

    The function itself is on the line of its ``def``.
    """

    lines: list[str]
    starts: dict[int, int]


class List(Protocol):
    """Printer of functions as lines; ``names`` as in :meth:`Function.script`."""

    def __call__(self, func: Any, /, *, names: Names | None = None) -> Listing: ...


class Level(msgspec.Struct, frozen=True):
    """An IR as the pass machinery sees it: its node classes, verifier, printer, reader and
    comparison.

    ``signature`` returns what passes must not change: a node, data, or a tuple of them. ``listing``
    prints like ``script`` and adds the line on which each node begins. ``symbols`` lists what a
    function introduces, in the order in which names are assigned; it takes a memo or None, which
    ``memo`` makes: what printing the same nodes again can use.
    ``codecs`` convert data that is not plain for trace files.
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
    memo: Callable[[], dict[Any, Any]] | None = None
    codecs: tuple[Codec, ...] = ()

    @property
    def functions(self) -> tuple[type[Function], ...]:
        """Return the function classes among the node classes."""
        return _functions_among(self.nodes)


@cache
def _functions_among(classes: tuple[type[Node], ...]) -> tuple[type[Function], ...]:
    return tuple(cls for cls in classes if issubclass(cls, Function))
