"""Converters that users register for operators which irkit does not convert itself.

Example::

    from irkit.frontend.onnx import OnnxNode, register
    from irkit.graph import Value

    @register("com.example", "ScaledAdd")
    def scaled_add(node: OnnxNode) -> Value:
        scaled = node.op("multiply", node.input(1), node.number("scale", 1.0))
        return node.op("add", node.input(0), scaled)

Installed packages offer converters as entry points of the group ``irkit.onnx_converters``, whose
values name such functions. They run while a model is imported, in the process that imports it.
"""

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from inspect import unwrap
from pkgutil import resolve_name
from typing import Any, TypeVar, cast

import msgspec
import onnx

from irkit.core import IRKitError
from irkit.frontend.onnx.control_flow.operators import CONTROL_FLOW
from irkit.frontend.onnx.convert import CONVERTERS
from irkit.frontend.onnx.onnx_node import Converter, ImportFailed, OnnxNode
from irkit.frontend.onnx.schemas import domain_of
from irkit.graph import Value

GROUP = "irkit.onnx_converters"
REMEDY = (
    "Register a converter for an operator of your own: irkit.frontend.onnx.register, or "
    "--converter MODULE:FUNCTION (docs/converters.md)."
)
_F = TypeVar("_F", bound=Converter)


class UserConverter(msgspec.Struct, frozen=True):
    """A converter for one operator, from version ``since`` of its domain on."""

    domain: str
    op_type: str
    since: int
    function: Converter
    shape_inputs: tuple[int, ...] = ()

    @property
    def path(self) -> str:
        """Where the function can be imported: ``module:name``."""
        named = self._named
        return f"{named.__module__}:{named.__qualname__}"

    @property
    def file(self) -> str:
        code = getattr(self._named, "__code__", None)
        return code.co_filename if code else ""

    def __str__(self) -> str:
        code = getattr(self._named, "__code__", None)
        return f"{self.path} ({code.co_filename}:{code.co_firstlineno})" if code else self.path

    @property
    def _named(self) -> Any:
        """The function inside decorators, or the class of another callable."""
        function = unwrap(self.function)
        return function if hasattr(function, "__qualname__") else cast(object, type(function))

    def convert(self, node: OnnxNode) -> Sequence[Value | None]:
        """Run the converter, and check what it returns.

        Raises: ImportFailed, or the IRKitError of the converter; each names node and converter.
        """
        try:
            found: object = self.function(node)
        except IRKitError as error:
            named = error.message.startswith(node.title)
            error.message = error.message if named else f"{node.title}: {error.message}"
            error.hint = "\n  ".join(filter(None, (error.hint, f"In the converter {self}.")))
            error.span = node.span
            raise
        except (Exception, SystemExit) as error:  # A stranger's code can raise anything.
            raise node.fail(
                f"the converter {self} raised {type(error).__name__}: {error}",
                hint=_place(error, self.file),
            ) from error
        return self._checked(node, found)

    def _checked(self, node: OnnxNode, found: object) -> Sequence[Value | None]:
        given = (found,) if isinstance(found, Value) else found
        if not isinstance(given, (list, tuple)):
            raise self._wrong(node, f"returned a {type(given).__name__}")
        outputs: list[Value | None] = []
        for each in cast(Sequence[object], given):
            if each is not None and not isinstance(each, Value):
                raise self._wrong(node, f"returned a {type(each).__name__} among its outputs")
            if each is not None and not node.builder.binds(each):
                raise self._wrong(node, f"returned {each.name!r}, which is not of this graph")
            outputs.append(each)
        if len(outputs) != len(node.outputs):
            count = f"{len(outputs)} outputs; the node has {len(node.outputs)}"
            raise self._wrong(node, f"returned {count}")
        return outputs

    def _wrong(self, node: OnnxNode, what: str) -> ImportFailed:
        return node.fail(
            f"the converter {self} {what}",
            hint="It must return a graph value, or a list with one, or None, for each output.",
        )


def _place(error: BaseException, file: str) -> str:
    """Return the line of a file in which an exception was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file]
    return f"At line {own[-1].lineno}: {own[-1].line}" if own else ""


_registered: dict[tuple[str, str], dict[int, UserConverter]] = {}
_loaded: list[str] = []
_asked: list[str] = []
"""The operators that irkit does not convert itself, as models asked for them."""


def register(
    domain: str, op_type: str, *, since: int = 1, shape_inputs: Iterable[int] = ()
) -> Callable[[_F], _F]:
    """Return a decorator that registers a converter for an operator of a domain.

    The converter takes an ``OnnxNode`` and returns the value of its output, or a list. Of several
    for one operator, that with the largest ``since`` up to the version the model imports is used;
    ``shape_inputs`` are the inputs whose values it reads with ``node.array`` or ``node.ints``.
    Raises: IRKitError if irkit converts the operator itself, or if another function is registered.
    """

    def decorate(function: _F) -> _F:
        made = UserConverter(
            _plain(domain), op_type, since, function, tuple(int(each) for each in shape_inputs)
        )
        name = f"{made.domain}.{op_type}" if made.domain else op_type
        if name in CONVERTERS or name in CONTROL_FLOW:
            raise IRKitError(f"irkit converts {name} itself; {made} cannot be registered for it")
        versions = _registered.setdefault((made.domain, op_type), {})
        other = versions.get(since)
        # A module that is imported again, such as in a notebook, replaces its own converters.
        if other is not None and other.path != made.path:
            raise IRKitError(
                f"two converters are registered for {name}, version {since}: {other} and {made}",
                hint="Give one of them another version (since), or call unregister first.",
            )
        versions[since] = made
        return function

    return decorate


def unregister(domain: str, op_type: str) -> None:
    """Forget the registered converters of an operator."""
    _registered.pop((_plain(domain), op_type), None)


def load_converter(path: str) -> None:
    """Import the registered converter at ``module:function``, which runs the module.

    Raises: IRKitError if there is none.
    """
    _load(f"converter {path!r}", lambda: resolve_name(path) if ":" in path else None)


def user_converter(
    node: onnx.NodeProto, opsets: Mapping[str, int], *, group: str = GROUP
) -> UserConverter | None:
    """Return the converter that is registered for the operator of a node at its version.

    Entry points are loaded when the first operator asks that irkit does not convert. Raises:
    IRKitError if one of them cannot be loaded.
    """
    _asked.append(node.op_type)
    if group not in _loaded:
        for entry in entry_points(group=group):
            load_entry_point(entry)
        _loaded.append(group)
    versions = _registered.get((domain_of(node), node.op_type), {})
    newest = opsets.get(domain_of(node), 1)
    fitting = [since for since in versions if since <= newest]
    return versions[max(fitting)] if fitting else None


def asked_for_converters() -> int:
    """Return how often an operator was met that only users can convert, or that is a function."""
    return len(_asked)


def load_entry_point(entry: EntryPoint) -> None:
    """Import a converter that an installed package offers.

    Raises: IRKitError that names the package.
    """
    where = f"entry point {entry.name!r} ({entry.value})"
    if entry.dist is not None:
        where += f" of package {entry.dist.name!r}"
    _load(where, entry.load)


def _load(what: str, load: Callable[[], object]) -> None:
    try:
        found = load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # A module can raise anything when it is imported.
        reason = f"{type(error).__name__}: {error}"
        raise IRKitError(f"{what} cannot be loaded: {reason}") from error
    known = (each for versions in _registered.values() for each in versions.values())
    if not any(each.function is found for each in known):
        raise IRKitError(
            f"{what} is not a registered converter",
            hint='Write it as MODULE:FUNCTION, and decorate the function with register("domain", '
            '"Operator").',
        )


def _plain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain
