"""The functions in the text of a module, so that each can be followed through the passes.

Only the lines where functions begin and end are looked for; nothing is parsed. What lies between
functions is a part without a function's name. Functions in an indented module lose that indent, so
that they compare with the same function printed alone.
"""

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

MODULE = "(module)"
"""The name of what stands outside functions; further pieces of it are numbered."""

_SYMBOL = r'@(?:"((?:[^"\\]|\\.)*)"|([\w.$-]+))'
_DEFINE = re.compile(rf"define\b[^@]*{_SYMBOL}")
_OWN_OP = re.compile(rf'(?:"?[\w.]*func[\w.]*"?)\b[^@]*{_SYMBOL}')
_GENERIC_OP = re.compile(r'"[\w.]*func[\w.]*"\(.*?\bsym_name = "([^"]*)"')
_PYTHON_DEF = re.compile(r"def (\w+)\(")
_LONGEST_HEAD = 20_000
"""Characters of a line in which the name of a function is looked for."""


class Parts(msgspec.Struct, frozen=True):
    """The parts of a text, by name; ``whole`` if they are a module."""

    texts: dict[str, str]
    whole: bool

    @property
    def functions(self) -> list[str]:
        """List the names of the functions."""
        return [name for name in self.texts if not name.startswith(MODULE)]


def parts_of(language: str, text: str) -> Parts:
    """Split the text of a module or of a function."""
    split = _SPLITS.get(language)
    if split is None:
        return Parts({MODULE: text}, whole=True)
    pieces, whole = split(text.split("\n"))
    return Parts(_named(pieces), whole)


_Piece = tuple[str, list[str]]


def _named(pieces: Iterable[_Piece]) -> dict[str, str]:
    found: dict[str, str] = {}
    others = 0
    for name, lines in pieces:
        text = "\n".join(lines).strip("\n")
        if not text.strip():
            continue
        if not name or name in found:
            others += 1
            name = MODULE if others == 1 else f"{MODULE} {others}"
        found[name] = text
    return found


def _llvm(lines: list[str]) -> tuple[list[_Piece], bool]:
    whole = any(line.startswith(("; ModuleID", "source_filename", "target ")) for line in lines)
    pieces: list[_Piece] = [("", [])]
    inside = False
    for line in lines:
        found = None if inside else _DEFINE.match(line[:_LONGEST_HEAD])
        if found is not None:
            notes: list[str] = []
            above = pieces[-1][1]
            while above and above[-1].startswith("; Function Attrs"):
                notes.insert(0, above.pop())
            pieces.append((found[1] or found[2], notes))
            inside = True
        pieces[-1][1].append(line)
        if inside and line == "}":
            pieces.append(("", []))
            inside = False
    return pieces, whole


def _mlir(lines: list[str]) -> tuple[list[_Piece], bool]:
    root = next((line for line in lines if _begins_operation(line)), "")
    if re.match(r'(?:builtin\.)?module\b|"builtin\.module"', root):
        return list(_in_module(lines, "  ", _operation_name)), True
    name = _operation_name(root)
    return [(name, lines)], not name


def _begins_operation(line: str) -> bool:
    return bool(line) and line[0] not in " #!/}^" and not line.startswith("{-#")


def _operation_name(line: str) -> str:
    head = line[:_LONGEST_HEAD]
    generic = _GENERIC_OP.match(head)
    if generic is not None:
        return generic[1]
    found = _OWN_OP.match(head)
    return "" if found is None else found[1] or found[2]


def _python(lines: list[str]) -> tuple[list[_Piece], bool]:
    if not any(line.startswith("class ") for line in lines):
        heads = [found[1] for line in lines if (found := _PYTHON_DEF.match(line[:_LONGEST_HEAD]))]
        name = heads[0] if len(heads) == 1 else ""
        return [(name, lines)], not name
    return list(_with_decorators(_in_module(lines, "    ", _python_name))), True


def _python_name(line: str) -> str:
    found = _PYTHON_DEF.match(line[:_LONGEST_HEAD])
    return "" if found is None else found[1]


def _with_decorators(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Move the decorators at the end of a piece to the function below them."""
    waiting: list[str] = []
    for name, lines in pieces:
        lines = [*(each.strip() for each in waiting), *lines] if name else [*waiting, *lines]
        waiting = []
        while lines and lines[-1].lstrip().startswith("@") and not lines[-1].startswith("@"):
            waiting.insert(0, lines.pop())
        yield name, lines
    yield "", waiting


def _in_module(lines: list[str], indent: str, name_of: Callable[[str], str]) -> Iterator[_Piece]:
    """Cut where an operation begins at an indent; functions lose it."""
    piece: _Piece = ("", [])
    for line in lines:
        own = line.removeprefix(indent)
        begins = (
            own is not line and len(own) < len(line) and own[:1] not in ("", " ", "}", "^", ")")
        )
        leaves = line and not line.startswith(indent)
        if begins or (leaves and piece[0]):
            name = name_of(own) if begins else ""
            if name or piece[0]:
                yield piece
                piece = (name, [])
        piece[1].append(own if piece[0] else line)
    yield piece


_SPLITS: dict[str, Callable[[list[str]], tuple[list[_Piece], bool]]] = {
    "llvm": _llvm,
    "mlir": _mlir,
    "python": _python,
}
