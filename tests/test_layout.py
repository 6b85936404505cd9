"""The layout of the code: imports between packages, names, docstrings.

The tables below list the exceptions with their reasons. An entry that is no longer an exception
fails a test, so the tables cannot go stale.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import irkit
from tests.source_tree import tree_of

ROOT = Path(irkit.__file__).parent.parent

FACES = {
    "irkit.frontend.onnx",
    "irkit.frontend.torch",
    "irkit.fuzz.campaign",
    "irkit.fuzz.generators",
    "irkit.fuzz.judge",
    "irkit.inspector_web.jobs",
    "irkit.inspector_web.load",
    "irkit.inspector_web.report",
    "irkit.inspector_web.server",
    "irkit.ir.analysis",
    "irkit.ir.arith",
    "irkit.ir.math",
    "irkit.ir.reference",
    "irkit.ir.threads",
    "irkit.passes.graph",
    "irkit.passes.loop",
}
"""Subpackages that other packages may import from, besides the packages directly in irkit."""

NOUNS = {
    "enclosing": "what encloses a statement",
    "finding": "what a run found",
    "indexing": "a family of operators, in ONNX's word",
    "listing": "a program with line numbers",
    "meaning": "what an operator computes",
    "pooling": "a family of operators, in ONNX's word",
    "sampling": "the primitives that sample decisions, in TVM's word",
    "shaping": "a family of operators",
}
"""Modules whose name ends in -ing and is a noun."""

SAME_NAME = {
    "Module": "a layer in irkit.nn, as in PyTorch and TVM; built code in irkit.runtime, as in TVM",
    "Replay": "a replay of a schedule that is known to be legal, and `tune.Replay` of records",
}
"""Names that two classes of the product have, and why."""

VERBS_TO_AVOID = ("Say", "Be", "Give", "Let", "Tell")


def sources(*tops: str, suffix: str = ".py") -> list[Path]:
    found = [path for top in tops for path in sorted((ROOT / top).rglob(f"*{suffix}"))]
    return [path for path in found if "__pycache__" not in path.parts]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def package_of(path: Path) -> str:
    """Return the subpackage of irkit that a file is in, or the name of the module."""
    return path.relative_to(ROOT / "irkit").parts[0].removesuffix(".py")


def expect_none(problems: Iterable[str], remedy: str) -> None:
    """Fail with the sorted problems, if there are any, under the remedy."""
    found = sorted(problems)
    assert not found, "\n".join([f"{remedy}:", *found])


def test_no_module_lists_its_names_twice() -> None:
    expect_none(
        (
            f"{named(path)}:{node.lineno}"
            for path in sources("irkit")
            if "__all__" in path.read_text()
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.Name) and node.id == "__all__"
        ),
        "re-export as 'from x import y as y', without __all__",
    )


@cache
def imports_of(path: Path) -> list[tuple[int, str]]:
    """List the modules that a file imports from, with their lines."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append((node.lineno, node.module))
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
    return found


def inner_imports() -> dict[tuple[str, str], str]:
    """Return package and module of each import past a face, with the first place."""
    found: dict[tuple[str, str], str] = {}
    for path in sources("irkit"):
        package = package_of(path)
        for line, module in imports_of(path):
            parts = module.split(".")
            past = parts[0] == "irkit" and len(parts) > 2 and module not in FACES
            if past and parts[1] != package and package != "__main__":
                found.setdefault((package, module), f"{named(path)}:{line}")
    return found


def test_packages_import_from_the_face_of_another_package() -> None:
    expect_none(
        (f"{place} imports {module}" for (_, module), place in inner_imports().items()),
        "import from the package, and re-export there what is missing",
    )


def test_every_face_is_used_by_another_package() -> None:
    used = {
        module
        for path in sources("irkit")
        for _, module in imports_of(path)
        if not module.startswith(f"irkit.{package_of(path)}.")
    }
    expect_none(FACES - used, "take out of FACES")


def test_irkit_imports_nothing_of_its_tests() -> None:
    expect_none(
        (
            f"{named(path)}:{line} imports {module}"
            for path in sources("irkit")
            for line, module in imports_of(path)
            if module.split(".")[0] == "tests"
        ),
        "move what the product needs into irkit",
    )


def test_every_folder_says_what_is_in_it() -> None:
    folders = {path.parent for path in sources("irkit")}
    expect_none(
        (
            named(folder)
            for folder in folders
            if not (folder / "__init__.py").is_file()
            or not ast.get_docstring(tree_of(folder / "__init__.py"))
        ),
        "write an __init__.py with a docstring",
    )


def test_no_module_is_named_by_a_bare_gerund() -> None:
    names = {path.stem: named(path) for path in sources("irkit")}
    names |= {path.parent.name: named(path.parent) for path in sources("irkit")}
    gerunds = {name for name in names if re.fullmatch(r"[a-z]+ing", name)}
    expect_none((names[name] for name in gerunds - NOUNS.keys()), "name it by what it holds")
    expect_none(NOUNS.keys() - gerunds, "take out of NOUNS")


def test_a_class_name_stands_for_one_thing() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sources("irkit"):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{named(path)}:{node.lineno}")
    shared = {name: where for name, where in places.items() if len(where) > 1}
    expect_none(
        (f"{name}: {', '.join(shared[name])}" for name in shared.keys() - SAME_NAME.keys()),
        "give one of them another name",
    )
    expect_none(SAME_NAME.keys() - shared.keys(), "take out of SAME_NAME")


def empty_verbs() -> Iterator[str]:
    """List the docstrings that begin with a verb to avoid."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    begins = re.compile(rf"""["']\s*({"|".join(VERBS_TO_AVOID)})\b""")
    for path in sources("irkit", "tests", "benchmarks", "examples", "docs"):
        if not begins.search(path.read_text()):  # Most files: to parse them takes longer.
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, kinds):
                first, *_ = (ast.get_docstring(node) or "").split(maxsplit=1) or [""]
                if first in VERBS_TO_AVOID:
                    line = getattr(node, "lineno", 1)
                    yield f"{named(path)}:{line} begins with {first!r}"


def test_docstrings_begin_with_what_is_done() -> None:
    expect_none(
        empty_verbs(), "begin as the standard library does, with Return, Check, Raise or the like"
    )


@pytest.mark.parametrize("reasons", [NOUNS, SAME_NAME])
def test_every_exception_has_its_reason(reasons: dict[str, str]) -> None:
    assert all(reasons.values())
