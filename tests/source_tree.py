"""The syntax tree of a source file, parsed once: all of irkit takes seconds."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a file, which nobody changes."""
    return ast.parse(path.read_text(encoding="utf-8"))
