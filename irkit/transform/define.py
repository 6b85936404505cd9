"""Define a pass: a function from IR to IR that also knows its name, options and facts."""

import importlib
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

import msgspec

from irkit.core import Function, IRKitError, IRModule
from irkit.transform.facts import Fact
from irkit.transform.options import Option, check_options, help_of, read_signature
from irkit.transform.spec import render_spec

_P = ParamSpec("_P")
_IR = TypeVar("_IR", bound=Function | IRModule)
PASS_CALLER = __file__
"""The file whose frames call a pass, in tracebacks."""


class Origin(msgspec.Struct, frozen=True):
    """Where a pass is defined; ``path`` is ``module:qualname``."""

    path: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.path} ({self.file}:{self.line})"


class Pass(Generic[_P, _IR]):
    """A function from IR to IR of the same class; call it, or put it into a pipeline.

    Passes are immutable; two are equal if they run the same function with the same options.
    ``level`` is the class it takes: a class of functions, which makes it a pass over each of them,
    or ``IRModule``.
    """

    def __init__(
        self,
        function: Callable[_P, _IR],
        *,
        needs: tuple[Fact, ...] = (),
        gives: tuple[Fact, ...] = (),
        breaks: tuple[Fact, ...] = (),
        atomic: bool = False,
        idempotent: bool = False,
        changes_rounding: bool = False,
        most_nodes: int = 0,
    ) -> None:
        self.function = function
        self.name: str = function.__name__.strip("_").replace("_", "-")
        self.needs, self.gives, self.breaks = needs, gives, breaks
        self.atomic, self.idempotent = atomic, idempotent
        self.changes_rounding, self.most_nodes = changes_rounding, most_nodes
        self.options: Mapping[str, Any] = MappingProxyType({})
        self.doc = inspect.getdoc(function) or ""
        self.__doc__ = self.doc
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__, self.__wrapped__ = function.__module__, function
        subject, self.parameters = read_signature(function)
        self.level: type[Function] | type[IRModule] = _checked_level(self.name, subject)
        for fact in gives:
            if fact in breaks:
                raise IRKitError(f"pass {self.name!r} both gives and breaks {fact.name}")

    parameters: tuple[Option, ...]

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _IR:
        given = check_options(self.name, self.parameters, kwargs) if kwargs else {}
        run = cast(Callable[..., _IR], self.function)
        return run(*args, **{**self.options, **given})

    def using(self, **options: object) -> "Pass[_P, _IR]":
        """Return the same pass with some options set.

        Raises: OptionError if there is no such option, or its value has the wrong type.
        """
        made = cast("Pass[_P, _IR]", object.__new__(type(self)))
        made.__dict__.update(self.__dict__)
        merged = check_options(self.name, self.parameters, {**self.options, **options})
        made.options = MappingProxyType(merged)
        return made

    def with_only(self, **options: object) -> "Pass[_P, _IR]":
        """Return the same pass with these options set and all others at their defaults."""
        made = self.using()
        made.options = MappingProxyType(check_options(self.name, self.parameters, options))
        return made

    @property
    def on_modules(self) -> bool:
        """True if the pass takes whole modules instead of one function at a time."""
        return self.level is IRModule

    @property
    def path(self) -> str:
        """The ``module:qualname`` from which another process can import the pass."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    @property
    def origin(self) -> Origin:
        """Where the pass is defined."""
        code = inspect.unwrap(self.function).__code__
        return Origin(self.path, code.co_filename, code.co_firstlineno)

    def help_of(self, option: str) -> str:
        """Return what the docstring says about an option, or an empty string."""
        return help_of(self.doc, option)

    def __str__(self) -> str:
        return render_spec(self.name, self.options)

    def __repr__(self) -> str:
        return f"<pass {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pass) and (
            self.function is other.function  # pyright: ignore[reportUnknownMemberType] -- a pass of any type
            and dict(self.options) == dict(other.options)
        )

    def __hash__(self) -> int:
        return hash((self.function, str(self)))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, dict[str, Any]]]:
        if "<" in self.function.__qualname__:
            raise IRKitError(
                f"pass {self.name!r} cannot be sent to another process: {self.path} is defined "
                "inside a function",
                hint="Define it at the top level of a module.",
            )
        found = _resolve(self.path)
        if not isinstance(found, Pass) or found.function is not self.function:
            raise IRKitError(
                f"pass {self.name!r} cannot be sent to another process: {self.path} names "
                f"another object",
                hint="Keep the pass under the name of its function.",
            )
        return load_pass, (self.path, dict(self.options))


AnyPass = Pass[..., Any]


def _checked_level(name: str, subject: type[Any]) -> type[Function] | type[IRModule]:
    if issubclass(subject, (Function, IRModule)):
        return subject
    raise IRKitError(
        f"pass {name!r} takes {subject.__name__}; expected a class of functions, or IRModule"
    )


def _resolve(path: str) -> object:
    module, _, qualname = path.partition(":")
    found = _module_with(module, qualname.partition(".")[0])
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def _module_with(module: str, name: str) -> object:
    """Import a module; if it is gone, the folder it was in, provided that has the name.

    Crash files thus outlive the move of a pass to another file.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        folder = module.rpartition(".")[0]
        if error.name == module and folder:
            face = importlib.import_module(folder)
            if hasattr(face, name):
                return face
        raise


def load_pass(path: str, options: Mapping[str, object] = MappingProxyType({})) -> AnyPass:
    """Import the pass at ``module:qualname``. Importing runs the module, so the name must be
    trusted.

    Raises: IRKitError if there is no such pass.
    """
    try:
        found = _resolve(path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # A module can raise anything when it is imported.
        what = "" if isinstance(error, (ImportError, AttributeError)) else type(error).__name__
        reason = f"{what}: {error}" if what else str(error)
        hint = ""
        if isinstance(error, AttributeError) and error.name:
            close = get_close_matches(error.name, dir(error.obj), n=1)
            hint = f"Did you mean {close[0]!r}?" if close else ""
        raise IRKitError(f"cannot load pass {path!r}: {reason}", hint=hint) from error
    if not isinstance(found, Pass):
        raise IRKitError(
            f"{path!r} is not a pass but a {type(found).__name__}",
            hint="Decorate the function with @define_pass.",
        )
    known = cast(AnyPass, found)
    return known.using(**options) if options else known


@overload
def define_pass(function: Callable[_P, _IR], /) -> Pass[_P, _IR]: ...
@overload
def define_pass(
    *,
    needs: tuple[Fact, ...] = (),
    gives: tuple[Fact, ...] = (),
    breaks: tuple[Fact, ...] = (),
    atomic: bool = False,
    idempotent: bool = False,
    changes_rounding: bool = False,
    most_nodes: int = 0,
) -> Callable[[Callable[_P, _IR]], Pass[_P, _IR]]: ...
def define_pass(
    function: Callable[..., Any] | None = None,
    /,
    *,
    needs: tuple[Fact, ...] = (),
    gives: tuple[Fact, ...] = (),
    breaks: tuple[Fact, ...] = (),
    atomic: bool = False,
    idempotent: bool = False,
    changes_rounding: bool = False,
    most_nodes: int = 0,
) -> Any:
    """Turn a function into a pass, without registering it anywhere.

    The first parameter is the IR, annotated with its class; options are keyword-only parameters
    with a type and a default. A pass keeps each fact that it does not break. The rewrites of an
    ``atomic`` pass depend on each other, so they are disabled all or none. An ``idempotent`` pass
    leaves its own result alone, which contract checks verify. A pass that ``changes_rounding``
    declares that its floats may be rounded otherwise, within the bound of
    ``docs/legal-changes.md``. A pass fails that returns more than ``most_nodes`` nodes, and more
    than it was given: one that copies code can so end a compilation that would take minutes. 0
    stands for no limit.
    """

    def define(function: Callable[..., Any]) -> AnyPass:
        if not hasattr(function, "__name__"):
            raise IRKitError(
                f"a pass is made of a function, found {type(function).__name__}",
                hint="Write @define_pass above def, with its keywords if there are any.",
            )
        return Pass(
            function,
            needs=needs,
            gives=gives,
            breaks=breaks,
            atomic=atomic,
            idempotent=idempotent,
            changes_rounding=changes_rounding,
            most_nodes=most_nodes,
        )

    return define if function is None else define(function)
