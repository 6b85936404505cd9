"""The options of a pass: its keyword-only parameters, check_options by name and type."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

import msgspec

from irkit.core import IRKitError, OptionError


class Option(msgspec.Struct, frozen=True):
    """One option of a pass: its name, type and default."""

    name: str
    type: Any
    default: Any

    def __str__(self) -> str:
        shown = self.type.__name__ if isinstance(self.type, type) else str(self.type)
        return f"{self.name}: {shown} = {self.default!r}"


def help_of(doc: str, name: str) -> str:
    """Return the sentence of a docstring that names an option in double backquotes."""
    sentences = re.split(r"(?<=[.;])\s+", " ".join(doc.split()))
    said = [each for each in sentences if f"``{name}``" in each]
    return said[0][0].upper() + said[0][1:].rstrip(".;") if said else ""


def read_signature(function: Callable[..., Any]) -> tuple[type[Any], tuple[Option, ...]]:
    """Return the class of the IR that a pass function takes, and its options.

    Raises: IRKitError if the function does not have the form of a pass.
    """
    where = f"pass function {function.__qualname__!r}"
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError) as error:
        raise IRKitError(f"{where}: its annotations cannot be read: {error}") from error
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ):
        raise IRKitError(f"{where} must take the IR as its first parameter")
    subject = hints.get(parameters[0].name)
    if not isinstance(subject, type):
        raise IRKitError(
            f"{where}: its first parameter must be annotated with the class of the IR it takes",
            hint="Such as PrimFunc, GraphFunc or IRModule.",
        )
    if hints.get("return", subject) is not subject:
        raise IRKitError(f"{where} must return what it takes: {subject.__name__}")
    return subject, tuple(_option(where, parameter, hints) for parameter in parameters[1:])


def _option(where: str, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Option:
    if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
        raise IRKitError(
            f"{where}: parameter {parameter.name!r} must be keyword-only",
            hint="Put a * before the options.",
        )
    if parameter.default is inspect.Parameter.empty or parameter.name not in hints:
        raise IRKitError(f"{where}: option {parameter.name!r} needs a type and a default")
    return Option(parameter.name, hints[parameter.name], parameter.default)


def check_options(
    name: str, options: tuple[Option, ...], given: Mapping[str, object]
) -> dict[str, Any]:
    """Check options by name and type, and return them in order of declaration.

    Raises: OptionError that lists the available options.
    """
    known = {option.name: option for option in options}
    listed = "; ".join(map(str, options)) or "none"
    for key in given:
        if key not in known:
            raise OptionError(f"pass {name!r} has no option {key!r}", hint=f"It has: {listed}")
    result: dict[str, Any] = {}
    for option in options:
        if option.name in given:
            result[option.name] = _checked_value(name, option, given[option.name], listed)
    return result


def _checked_value(name: str, option: Option, value: object, listed: str) -> Any:
    try:
        return msgspec.convert(value, option.type)
    except (msgspec.ValidationError, TypeError) as error:
        raise OptionError(
            f"option {option.name!r} of pass {name!r} is {value!r}: {error}",
            hint=f"Options are: {listed}",
        ) from None
