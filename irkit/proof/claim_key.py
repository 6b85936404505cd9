"""Keys of claims: claims that differ only in the names of variables and buffers have the same."""

import hashlib

from irkit.core import Node, children, postorder
from irkit.ir import Buffer, Call, Const, Load, Var
from irkit.ir.arith import Claim


def claim_key(claim: Claim) -> str:
    """Return a digest of what a claim says; equal expressions count once."""
    return _Table(claim).digest()


class _Table:
    """The nodes of a claim as rows, each once; symbols are numbered by first occurrence."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.rows: dict[tuple[object, ...], int] = {}
        self.symbols: dict[Node, int] = {}
        self.numbers: dict[int, int] = {}

    def digest(self) -> str:
        claim = self.claim
        roots = [self._number(part) for part in (claim.before, claim.after, *claim.facts)]
        whole = "\n".join(map(repr, (*self.rows, roots)))
        return hashlib.sha256(whole.encode()).hexdigest()

    def _number(self, root: Node) -> int:
        for node in postorder(root):
            below = [self.numbers[id(child)] for child in children(node)]
            row = (node.__class__.__name__, *self._own(node), *below)
            self.numbers[id(node)] = self.rows.setdefault(row, len(self.rows))
        return self.numbers[id(root)]

    def _own(self, node: Node) -> tuple[object, ...]:
        dtype = str(getattr(node, "dtype", ""))
        match node:
            case Var():
                known = self.claim.ranges.get(node)
                ends = (None, None) if known is None else (known.low, known.high)
                return dtype, self._symbol(node), ends
            case Const():
                return dtype, repr(node.value)
            case Load():
                return dtype, self._symbol(node.buffer), len(node.indices)
            case Call():
                return dtype, node.name
            case _:
                return (dtype,)

    def _symbol(self, symbol: Var | Buffer) -> int:
        return self.symbols.setdefault(symbol, len(self.symbols))
