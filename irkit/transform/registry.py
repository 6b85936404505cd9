"""Find passes by name, for the command line, the web server and text specs."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from irkit.core import IRKitError
from irkit.transform.define import AnyPass, Pass, load_pass
from irkit.transform.spec import PassSpec, parse_spec

GROUP = "irkit.passes"


class Registry:
    """An immutable set of passes with distinct names; two different passes of one name are an error
    that names both.

    Entry points are loaded when all passes, or a name not yet known, are first requested. A broken
    entry point raises an error that names its package then, and not earlier.
    """

    def __init__(self, passes: Iterable[AnyPass] = (), entries: Iterable[EntryPoint] = ()) -> None:
        self._passes: dict[str, AnyPass] = {}
        for p in passes:
            _add(self._passes, p)
        self._entries = tuple(entries)
        self._all: dict[str, AnyPass] | None = None
        self._packages: dict[str, str] = {}

    def with_passes(self, *passes: AnyPass) -> "Registry":
        """Return a registry with more passes."""
        return Registry((*self._passes.values(), *passes), self._entries)

    def with_entry_points(self, group: str = GROUP) -> "Registry":
        """Return a registry with the passes that installed packages offer as entry points of a
        group."""
        return Registry(self._passes.values(), (*self._entries, *entry_points(group=group)))

    def find(self, name: str, *, imports: bool = True) -> AnyPass:
        """Return the pass of a name, or at ``module:function``.

        The second form imports the module, which runs it: pass ``imports=False`` if names come from
        people who must not run code. Raises: IRKitError that lists similar names.
        """
        if ":" in name:
            if not imports:
                raise IRKitError(f"there is no pass {name!r} here, and modules are not imported")
            return load_pass(name)
        if name in self._passes:
            return self._passes[name]
        known = self._loaded()
        if name in known:
            return known[name]
        close = get_close_matches(name[:100].replace("_", "-"), known, n=3)
        raise IRKitError(
            f"there is no pass {name[:100]!r}",
            hint=f"Did you mean {' or '.join(map(repr, close))}?"
            if close
            else "There are: " + (", ".join(sorted(known)) or "none"),
        )

    def resolve(self, spec: PassSpec | str, *, imports: bool = True) -> AnyPass:
        """Return the pass that a spec describes, with its options set.

        Raises: ParseError, OptionError, or IRKitError if there is no such pass.
        """
        read = parse_spec(spec) if isinstance(spec, str) else spec
        found = self.find(read.name, imports=imports)
        return found.using(**read.options) if read.options else found

    def package_of(self, name: str) -> str:
        """Return name and version of the package whose entry point provides a pass, or an empty
        string."""
        self._loaded()
        return self._packages.get(name, "")

    def __iter__(self) -> Iterator[AnyPass]:
        return iter(self._loaded().values())

    def __len__(self) -> int:
        return len(self._loaded())

    def __contains__(self, name: object) -> bool:
        return name in self._passes or name in self._loaded()

    def _loaded(self) -> dict[str, AnyPass]:
        if self._all is None:
            found = dict(self._passes)
            for entry in self._entries:
                loaded = _load(entry)
                _add(found, loaded)
                if entry.dist is not None:
                    self._packages[loaded.name] = f"{entry.dist.name} {entry.dist.version}"
            self._all = found
        return self._all


def _add(passes: dict[str, AnyPass], p: object) -> None:
    if not isinstance(p, Pass):
        raise IRKitError(f"{p!r} is not a pass", hint="Decorate the function with @define_pass.")
    known = cast(AnyPass, p)
    other = passes.setdefault(known.name, known)
    if other != known:
        raise IRKitError(
            f"two passes are named {known.name!r}: {other.origin} and {known.origin}",
            hint="Rename one of the functions.",
        )


def _load(entry: EntryPoint) -> AnyPass:
    where = f"entry point {entry.name!r} ({entry.value})"
    if entry.dist is not None:
        where += f" of package {entry.dist.name!r}"
    try:
        found: object = entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"
        raise IRKitError(f"{where} cannot be loaded: {reason}") from error
    if not isinstance(found, Pass):
        raise IRKitError(f"{where} is not a pass but a {type(found).__name__}")
    return cast(AnyPass, found)
