"""Value numbering: equal expressions, and only those, have the same number.

The ``==`` and ``hash`` of expressions recurse and do not see sharing; numbering visits each node
once, at any depth.
"""

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter

from irkit.core import CHILDREN, fields, postorder
from irkit.ir.buffer import Load
from irkit.ir.expr import Const, Expr, Var


class ValueNumbering:
    """Numbers of expressions, from 0 in order of first occurrence; equal expressions share a
    number.

    Two loads with different results of ``version`` never share a number.
    """

    def __init__(self, version: Callable[[Load], Hashable] = lambda load: 0) -> None:
        self.version = version
        self.exprs: list[Expr] = []
        self._numbers: dict[Hashable, int] = {}
        self._seen: dict[int, int] = {}
        self._loading: set[int] = set()  # Nodes seen that are loads, or have loads below them.
        self._alive: list[Expr] = []

    def of(self, expr: Expr) -> int:
        """Return the number of an expression, after numbering everything below it."""
        seen = self._seen
        if id(expr) in seen:
            return seen[id(expr)]
        self._alive.append(expr)
        for child in CHILDREN[expr.__class__](expr):
            if id(child) not in seen:
                return self._each(expr)
        found = seen[id(expr)] = self._number(expr)
        return found

    def _each(self, expr: Expr) -> int:
        seen = self._seen
        for node in postorder(expr):
            if id(node) not in seen:
                assert isinstance(node, Expr)
                seen[id(node)] = self._number(node)
        return seen[id(expr)]

    def after_operands(self, nodes: Sequence[Expr]) -> list[int]:
        """Return the numbers of expressions that come after their operands, as in postorder."""
        seen, numbers = self._seen, list[int]()
        self._alive += nodes
        for node in nodes:
            number = seen.get(id(node))
            if number is None:
                number = seen[id(node)] = self._number(node)
            numbers.append(number)
        return numbers

    def forget(self) -> None:
        """Forget the loads seen, and what they are part of: from here on, they can return other
        values."""
        for key in self._loading:
            del self._seen[key]
        self._loading.clear()

    def _number(self, node: Expr) -> int:
        key = self._key(node)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.exprs)
            self.exprs.append(node)
        return number

    def _key(self, node: Expr) -> Hashable:
        cls = node.__class__
        if cls is Var or cls is Const:
            return node
        below = CHILDREN[cls](node)
        numbers = [self._seen[id(child)] for child in below]
        if isinstance(node, Load):
            self._loading.add(id(node))
            return (self.version(node), *_OWN[cls](node), *numbers)
        if self._loading and not self._loading.isdisjoint(map(id, below)):
            self._loading.add(id(node))
        return (*_OWN[cls](node), *numbers)


class _Own(dict[type[Expr], Callable[[Expr], tuple[Hashable, ...]]]):
    """Functions that list the class of a node, and what it holds beside other expressions."""

    def __missing__(self, cls: type[Expr]) -> Callable[[Expr], tuple[Hashable, ...]]:
        data = [field.name for field in fields(cls) if field.kind not in ("child", "use")]
        used = [attrgetter(field.name) for field in fields(cls) if field.kind == "use"]
        # The second name makes attrgetter return a tuple even for one field.
        held = attrgetter("__class__", *(data or ["__class__"]))

        def own(node: Expr) -> tuple[Hashable, ...]:
            return (*held(node), *[id(read(node)) for read in used])

        made = self[cls] = own if used else held
        return made


_OWN = _Own()
