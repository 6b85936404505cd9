"""What a backend claims, what it is told about each claim, and the code it gives."""

from collections.abc import Callable, Mapping

import msgspec

from irkit.codegen import c_signature, c_symbol
from irkit.core import Target
from irkit.graph import GraphFunc, Match, Op, Pattern
from irkit.ir import PrimFunc


class ClaimRule(msgspec.Struct, frozen=True):
    """A pattern of operators that a backend can compute as one kernel.

    ``refuses`` is asked about each match, and returns why it is not wanted, or an empty text.
    ``gain`` estimates what the backend saves in it, in seconds a run; a match that saves nothing is
    left.
    """

    name: str
    pattern: Pattern
    refuses: Callable[[Match], str] | None = None
    gain: Callable[[Match], float] | None = None


def claim_rule(
    name: str,
    pattern: Pattern,
    *,
    refuses: Callable[[Match], str] | None = None,
    gain: Callable[[Match], float] | None = None,
) -> ClaimRule:
    """Return a rule that claims what a pattern matches, unless ``refuses`` says why not."""
    return ClaimRule(name, pattern, refuses, gain)


class BackendClaim(msgspec.Struct, frozen=True):
    """Operators that a backend computes as one kernel.

    ``function`` has these operators, and a parameter for each different tensor that they take.
    ``kernel`` is the same as loops: what the code has to compute, with the parameters in the order
    in which it gets them (numbers, inputs, result, and the extents that are only known at a call).
    ``rule`` is the name of the rule that matched.
    """

    rule: str
    function: GraphFunc
    kernel: PrimFunc
    target: Target

    @property
    def operators(self) -> tuple[Op, ...]:
        """The operators in order."""
        steps = (bind.step for bind in self.function.body.bindings)
        return tuple(step for step in steps if isinstance(step, Op))

    @property
    def symbol(self) -> str:
        """The name of the C function to define."""
        return f"claimed_{c_symbol(self.kernel.name)}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters in ``declaration``: numbers, inputs, the result, extents."""
        declared = c_signature(self.kernel).split(", ")
        return tuple(each.split()[-1].lstrip("*") for each in declared)

    @property
    def declaration(self) -> str:
        """The head of the C function to define. It returns 0, or -1 without memory."""
        return f"int32_t {self.symbol}({c_signature(self.kernel)})"


class ForeignCode(msgspec.Struct, frozen=True):
    """What a backend gives for a claim.

    It is ``c``, C source that defines the function ``claim.symbol``, or ``image``, an object file
    for the target that does. ``imports`` maps the functions that it calls, beyond those of the C
    library, to the shared libraries that have them: names or paths, as the system loads them. They
    are loaded with the model, and a package names them.
    """

    c: str = ""
    image: bytes = b""
    imports: Mapping[str, str] = {}
