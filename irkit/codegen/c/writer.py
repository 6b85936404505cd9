"""Text of a C file and of a function, and what a function has in reach while it is written."""

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from irkit.codegen.alignment import Alignment
from irkit.codegen.c.types import element_type, identifier, lane, padded, value_type
from irkit.codegen.dialect import C11, Dialect, Space
from irkit.core import IRKitError, Target, UniqueNames
from irkit.ir import Buffer, DType, Expr, For, PrimFunc, Stmt, Var

WORD = re.compile(r"[A-Za-z_]\w*")
DECLARATION = re.compile(
    r" *(?:const |_Alignas\(\d+\) )?(?:__\w+ )?(?:const )?\w+ (?:\*const |\*)?(\w+)(?: = |\[\d+\];)"
)
# Levels of C's operators: what binds tighter is larger.
ATOM, UNARY, TIMES, PLUS, LOWEST = 15, 14, 13, 12, 0
LONGEST = 72
"""Characters of an expression, above which it becomes a variable."""


class Code(msgspec.Struct, frozen=True):
    """An expression of C: its text, and how tightly its outermost operator binds.

    ``low`` and ``high`` enclose the value of a scalar integer. ``is_literal`` means that C may
    compute with it as an ``int``. ``bits`` is the text of a 16-bit float that was read, or of a
    vector of them, as it is in memory.
    """

    text: str
    level: int = ATOM
    low: int = 0
    high: int = 0
    is_literal: bool = False
    bits: str = ""

    def within(self, level: int) -> str:
        """Return the text as an operand of an operator of a level."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def atom(self) -> str:
        """Return the text as something that an index or a call can follow."""
        return self.within(ATOM)


class BufferPointer(msgspec.Struct, frozen=True):
    """A buffer: its pointer, its strides in elements, as numbers or names, and its memory."""

    pointer: str
    strides: tuple[int | str, ...]
    space: Space = ""


class SourceText:
    """What the functions of a file share: types of vectors, helper functions.

    ``hosted`` lets a pool of the host's run the bodies of parallel loops, which are ``regions``.
    """

    def __init__(
        self,
        target: Target,
        lines: Mapping[int, int] | None = None,
        ir: str = "",
        dialect: Dialect = C11,
        *,
        hosted: bool = False,
    ) -> None:
        self.target = target
        self.hosted = hosted
        self.regions: list[str] = []
        self.dialect = dialect
        self.types: dict[str, str] = {}
        self.helpers: dict[str, str] = {}
        self.functions: list[str] = []
        self.meanings: dict[str, PrimFunc] = {}
        self.lines = lines
        self.ir = ir

    def vector(self, name: str, lanes: int, *, loose: bool = False) -> str:
        """Return the vector type of elements with a short name.

        A ``loose`` one stands for a place in an array: aligned like an element.
        """
        count, element = padded(lanes), element_type(name)
        size = count * int(name[1:]) // 8
        kind = f"{name}x{count}"
        self._define(kind, element, count, f"vector_size({size})")
        if not loose:
            return kind
        align = int(name[1:]) // 8
        how = f"vector_size({size}), aligned({align}), may_alias"
        self._define(f"{kind}_u", element, count, how)
        return f"{kind}_u"

    def _define(self, kind: str, element: str, count: int, how: str) -> None:
        text = self.dialect.vector.format(kind=kind, element=element, count=count, how=how)
        self.types.setdefault(kind, text)

    def zeros(self, kind: str) -> str:
        """Return a vector of zeros; ``kind`` is the type, which ends in the number of lanes."""
        every = ", ".join(["0"] * int(kind.rpartition("x")[2]))
        return self.dialect.zeros.format(kind=kind, all=every)

    def helper(self, name: str, make: Callable[[], str]) -> str:
        """Define a helper function on first use, after those that it uses; return its name."""
        if name not in self.helpers:
            text = make()
            self.helpers[name] = text
        return name


class FunctionWriter:
    """A function while it is written.

    ``memo`` has the values of expressions by ``id`` for one statement, ``shared`` those that occur
    more than once and become variables. ``deferred`` are vectors made of scalars in the memo,
    written when their lanes are needed. ``mask`` is the condition, a name, under which the side of
    a vector conditional is evaluated, with its lanes. ``heap`` lists pointers that are freed at the
    end; ``open`` counts those that may hold memory where the text stands, ``exits`` the ways out of
    the function that report an error. ``block_memory`` are
    the declarations of memory that the threads of a block share, ``shared_end`` the bytes of it so
    far if the launch asks for it. ``comparisons`` has, for bool vectors by
    name, the comparison that each is: the name of integers as wide as what is compared, and their
    bits. ``registers`` are the variables in place of an array, by their first elements; ``kept``
    those that stay in a register once they are read. ``wrapping`` has loops that Clang must not
    vectorise.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.lines: list[str] = []
        self.depth = 1
        self.names = UniqueNames()
        self.values: dict[int, Code] = {}
        self.places: dict[int, BufferPointer] = {}
        self.memo: dict[int, Code] = {}
        self.deferred: dict[int, Callable[[FunctionWriter, Any], Code]] = {}
        self.log: list[int] = []
        self.shared: set[int] = set()
        self.loading: set[int] = set()
        self.mask: tuple[str, int] | None = None
        self.comparisons: dict[str, tuple[str, str]] = {}
        self.failures: dict[int, int] = {}
        self.written: set[int] = set()
        self.heap: list[str] = []
        self.allocations: Mapping[int, Expr] = {}
        self.open = 0
        self.jumps = False
        self.exits = 0
        self.stack_bytes = 0
        self.registers: dict[int, dict[int, str]] = {}
        self.kept: set[int] = set()
        self.noalias = True
        self.contracts = True
        self.declared_params: list[str] = []
        self.parallel = True
        self.record: str | None = None
        self.block_memory: list[str] = []
        self.shared_end: int | None = None
        self.alignment: Alignment | None = None  # Where a language reads wide vectors apart.
        self.wrapping: Mapping[Var, tuple[int, ...]] = {}

    def hint(self, node: For, test: str = "#if") -> list[str]:
        """Return the lines before a loop that Clang must not vectorise; none for others. After
        OpenMP's directive, which allows no hint, they are the other branch: without "#endif"."""
        if node.var not in self.wrapping:
            return []
        end = ["#endif"] if test == "#if" else []
        return [f"{test} defined(__clang__)", "#pragma clang loop vectorize(disable)", *end]

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Generator[None, None, None]:
        """Write a block in braces."""
        self.line(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    def name(self, hint: str) -> str:
        """Return a new name."""
        return self.names(identifier(hint))

    def locate(self, stmt: Stmt) -> None:
        """Write the place of a statement in the text of the IR, if that is wanted."""
        number = None if self.source.lines is None else self.source.lines.get(id(stmt))
        if number is not None:
            self.lines.append(f'#line {number} "{self.source.ir}"')

    def fail(self, cond: str, status: int | str) -> None:
        """Leave the function with a status if a condition holds."""
        with self.block(f"if ({cond})"):
            self.leave(status)

    def leave(self, status: int | str) -> None:
        """Write the exit with a status, past the end if memory has to be freed there."""
        self.exits += 1
        if not self.open:
            self.line(f"return {status};")
            return
        self.jumps = True
        self.line(f"status = {status};")
        self.line("goto leave;")

    def begin_statement(self) -> None:
        """Forget the values of the previous statement."""
        self.memo.clear()
        self.log.clear()
        self.deferred.clear()
        self.shared.clear()
        self.loading.clear()

    def keep(self, expr: Expr, value: Code) -> None:
        self.memo[id(expr)] = value
        self.log.append(id(expr))

    def of(self, expr: Expr) -> Code:
        """Return the value of an expression that is evaluated already, or deferred."""
        value = self.memo.get(id(expr))
        if value is None:
            value = self.deferred[id(expr)](self, expr)
            if len(value.text) > LONGEST:
                value = self.variable(expr.dtype, value)
            self.keep(expr, value)
        return value

    def forget_since(self, mark: int) -> None:
        """Remove what was recorded after the log was ``mark`` long."""
        for key in self.log[mark:]:
            self.memo.pop(key, None)
        del self.log[mark:]

    def type_of(self, dtype: DType) -> str:
        """Return the C type of a value."""
        if dtype.lanes == 1:
            return value_type(dtype)
        return self.source.vector(lane(dtype), dtype.lanes)

    def variable(
        self, dtype: DType, value: Code, hint: str = "t", *, changes: bool = False
    ) -> Code:
        """Put a value into a new variable, which is a constant unless it ``changes``."""
        name = self.name(hint)
        constant = "" if changes else "const "
        self.line(f"{constant}{self.type_of(dtype)} {name} = {value.text};")
        return Code(name, ATOM, value.low, value.high)

    def named(self, dtype: DType, value: Code) -> str:
        """Return the name of a variable, or a constant, that has a value."""
        if value.text.isidentifier() or value.is_literal:
            return value.text
        return self.variable(dtype, value).text

    def of_var(self, var: Var) -> Code:
        value = self.values.get(id(var))
        if value is None:
            raise IRKitError(f"variable {var.name!r} is not bound where it is used")
        return value

    def place(self, buffer: Buffer) -> BufferPointer:
        place = self.places.get(id(buffer))
        if place is None:
            raise IRKitError(f"buffer {buffer.name!r} is not defined where it is used")
        return place


@contextmanager
def captured(writer: FunctionWriter) -> Generator[list[str], None, None]:
    """Collect the lines that are written, for a place that is chosen later."""
    outer, writer.lines = writer.lines, []
    yield writer.lines
    writer.lines = outer


def used(lines: list[str]) -> list[str]:
    """Return statements that use the names which lines declare."""
    found = (DECLARATION.match(line) for line in lines)
    return [f"(void){declared[1]};" for declared in found if declared is not None]


def without_unused(lines: list[str]) -> tuple[list[str], set[str]]:
    """Leave out the declarations of names that no later line has; return the other lines, and the
    words in them."""
    kept, words = list[str](), set[str]()
    for line in reversed(lines):
        declared = DECLARATION.match(line)
        if declared is None or declared[1] in words:
            kept.append(line)
            words.update(WORD.findall(line))
    return kept[::-1], words
