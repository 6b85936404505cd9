"""Check values against the annotations of struct fields: neither what a file says is believed, nor
what a pass made."""

import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from irkit.core.node import AttrValue

Check = Callable[[Any], bool]


@cache
def checks(cls: type[Any], *, loose: bool = False) -> tuple[tuple[str, Check], ...]:
    """Make a test for each field of a struct class, in order of declaration.

    A ``loose`` one asks for the right class only, where rules of a level have better words for a
    wrong value: for literals and attributes. It takes anything where it does not know the form of
    an annotation.
    """
    hints = get_type_hints(cls)
    return tuple((name, _check(hints[name], loose)) for name in cls.__struct_fields__)


def _check(hint: Any, loose: bool) -> Check:
    origin = get_origin(hint)
    if hint is Any or (loose and hint == AttrValue):
        return lambda value: True
    if hint is None or hint is type(None):
        return lambda value: value is None
    if origin is Annotated:
        return _check(get_args(hint)[0], loose)
    if origin is Literal:
        classes = {each.__class__ for each in get_args(hint)}
        return (lambda value: value.__class__ in classes) if loose else _literal(get_args(hint))
    if origin in (Union, types.UnionType):
        return _any_of([_check(option, loose) for option in get_args(hint)])
    if origin is tuple:
        return _tuple(get_args(hint), loose)
    if loose and not isinstance(hint, type):
        return lambda value: True
    assert isinstance(hint, type), f"fields of a node cannot be annotated {hint!r}"
    if hint in (bool, int, float, str, bytes):
        return lambda value: value.__class__ is hint  # A bool is no int here.
    return lambda value: isinstance(value, hint)


def _literal(allowed: tuple[Any, ...]) -> Check:
    return lambda value: any(
        value.__class__ is each.__class__ and value == each for each in allowed
    )


def _any_of(options: list[Check]) -> Check:
    return lambda value: any(option(value) for option in options)


def _tuple(items: tuple[Any, ...], loose: bool) -> Check:
    if len(items) == 2 and items[1] is Ellipsis:
        each = _check(items[0], loose)
        return lambda value: isinstance(value, tuple) and all(map(each, value))  # pyright: ignore[reportUnknownArgumentType] -- the items are what is checked
    inner = [_check(item, loose) for item in items]

    def holds(value: Any) -> bool:
        return (
            isinstance(value, tuple)
            and len(value) == len(inner)  # pyright: ignore[reportUnknownArgumentType] -- as above
            and all(check(item) for check, item in zip(inner, value, strict=True))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- as above
        )

    return holds


def structs_within(cls: type[Any]) -> set[type[msgspec.Struct]]:
    """Collect the struct classes that the annotations of a struct class mention."""
    return {
        leaf
        for hint in get_type_hints(cls).values()
        for leaf in _leaves(hint)
        if isinstance(leaf, type) and issubclass(leaf, msgspec.Struct)
    }


def _leaves(hint: Any) -> Iterator[Any]:
    inner = get_args(hint) if get_origin(hint) is not Literal else ()
    if not inner:
        yield hint
    for each in inner:
        yield from _leaves(each)
