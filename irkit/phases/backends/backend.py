"""A backend: rules that claim operators, and the function that makes code of each claim."""

import inspect
from collections.abc import Callable, Sequence
from pkgutil import resolve_name

from irkit.core import IRKitError
from irkit.graph import GraphFunc
from irkit.phases.backends.claims import BackendClaim, ClaimRule, ForeignCode
from irkit.phases.backends.partition import partitioned
from irkit.transform import AnyPass, Pipeline, define_pass

Generate = Callable[[BackendClaim], ForeignCode]


class Backend:
    """A code generator for parts of a graph; ``generate`` gives the code of one claim.

    ``partition`` is the pass over graphs that marks what the rules claim. ``into`` places it before
    operators are fused.
    """

    def __init__(self, generate: Generate, name: str, rules: Sequence[ClaimRule]) -> None:
        self.generate = generate
        self.name = name
        self.rules = tuple(rules)
        self.doc = inspect.getdoc(generate) or ""
        self.__doc__ = self.doc
        self.__module__ = generate.__module__
        self.partition: AnyPass = self._pass(getattr(generate, "__qualname__", name))

    def _pass(self, qualname: str) -> AnyPass:
        def partition(func: GraphFunc) -> GraphFunc:
            return partitioned(func, self.name, self.rules)

        partition.__name__ = f"partition_for_{self.name}"
        # Another process finds the pass where the backend is.
        partition.__qualname__, partition.__module__ = f"{qualname}.partition", self.__module__
        partition.__doc__ = f"Mark the operators that the backend {self.name} computes."
        return define_pass(idempotent=True, atomic=True)(partition)

    def into(self, graph_pipeline: Pipeline) -> Pipeline:
        """Return a pipeline over graphs in which the backend takes its operators before others are
        fused."""
        if self.partition.name in graph_pipeline.names:
            return graph_pipeline
        return graph_pipeline.insert(self.partition, before="fuse-ops")

    def __repr__(self) -> str:
        return f"<backend {self.name}>"


def load_backend(path: str) -> Backend:
    """Import the backend at ``module:name``. Importing runs the module, so the name must be
    trusted.

    Raises: IRKitError if there is no such backend.
    """
    try:
        found = resolve_name(path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # A module can raise anything when it is imported.
        raise IRKitError(
            f"cannot load backend {path!r}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(found, Backend):
        raise IRKitError(
            f"{path!r} is not a backend but a {type(found).__name__}",
            hint="Decorate the function with @define_backend(rules=...).",
        )
    return found


def define_backend(*, rules: Sequence[ClaimRule], name: str = "") -> Callable[[Generate], Backend]:
    """Turn a function from a claim to its code into a backend, without registering it anywhere.

    Example::

        @define_backend(rules=(claim_rule("dense", op("matmul", hole("x"), hole("w"))),))
        def blas(claim: BackendClaim) -> ForeignCode: ...

        irkit.compile(model, backends=(blas,))

    Raises: IRKitError if there is no rule, or the name is no identifier.
    """

    def define(generate: Generate) -> Backend:
        title = name or getattr(generate, "__name__", "")
        if not title.isidentifier():
            raise IRKitError(f"a backend has a name like 'blas', found {title!r}")
        if not rules:
            raise IRKitError(f"backend {title!r} has no rules, so it would claim nothing")
        return Backend(generate, title, rules)

    return define
