"""Options that reach their verb as one value, so that a verb has few parameters."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import msgspec

Verb = Callable[..., None]
Option = Callable[[Verb], Verb]


def as_value(
    parameter: str, kind: type[msgspec.Struct], options: Iterable[Option]
) -> Callable[[Verb], Verb]:
    """Return a decorator that gives a verb options, whose values it gets as one ``parameter``.

    Options are named like fields of ``kind``; a field without an option keeps its default.
    """
    declared = tuple(options)

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def run(**values: Any) -> None:
            fields = {name: values.pop(name) for name in kind.__struct_fields__ if name in values}
            verb(**values, **{parameter: kind(**fields)})

        return with_options(run, declared)

    return decorate


def with_options(verb: Verb, options: Iterable[Option]) -> Verb:
    """Return the verb with these options, which its help lists in this order."""
    for option in reversed(tuple(options)):
        verb = option(verb)
    return verb
