"""Recursion in the source: no call of a recursive function goes through C, whose stack overflows
where Python's own does not, and the guard that raises the limit never stands around a ``yield``.

What is excused is listed below with its reason. An entry that is no longer needed fails a test.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent

import networkx as nx
import pytest

import irkit
from tests.call_graph import CallGraph, Definition, FunctionNode, own_nodes

ROOT = Path(irkit.__file__).parent.parent
REMEDY = (
    "a call through C takes space on the C stack, which overflows at about 20,000 levels; recurse "
    "in a loop or a list comprehension, or say in EXCUSED what else limits the depth"
)
PLAIN_DECORATORS = {"staticmethod", "classmethod", "override", "analysis"}
"""Decorators that call from Python, or not at all."""

DATA = "values of attributes: the verifier allows tuples two deep"
ARGUMENTS = "arguments of schedule primitives: lists of references and numbers"
MEANING = "the meaning of an instruction, which calls no other"
DRAWN = "made by the fuzzer, which limits the depth"
EXCUSED = {
    "irkit/core/field_checks.py:_leaves": "annotations of fields",
    "irkit/core/same.py:same_data": DATA,
    "irkit/debug/reduce/shrink/schedule.py:_renamed.put": ARGUMENTS,
    "irkit/debug/reduce/shrink/schedule.py:_simpler_items": ARGUMENTS,
    "irkit/debug/reduce/shrink/schedule.py:_simpler_values": ARGUMENTS,
    "irkit/fuzz/generators/expressions.py:ExprMaker.index": DRAWN,
    "irkit/graph/arrays.py:ArrayData.array": "asks for the digest only for an error",
    "irkit/graph/arrays.py:ArrayData.digest": "asks for the array, which is there",
    "irkit/graph/interp.py:_Machine._widened": "results: arrays, or tuples of arrays",
    "irkit/graph/ops/spec.py:_as_attr": DATA,
    "irkit/graph/text/step_reader.py:StepReader.type": "types in a line, which ast has parsed",
    "irkit/ir/interp/run.py:InterpretedFunction.__init__": MEANING,
    "irkit/ir/interp/run.py:_function_of": MEANING,
    "irkit/ir/verify/scopes.py:_is_data": DATA,
    "irkit/schedule/arguments/index_map.py:_computed": "a line of text, which ast has parsed",
    "irkit/schedule/primitives/loops/annotate.py:_data": DATA,
    "irkit/schedule/trace/encoder.py:Encoder.encode": ARGUMENTS,
    "irkit/schedule/trace/encoder.py:Encoder.knows": ARGUMENTS,
    "irkit/schedule/trace/schedule_trace.py:_python": ARGUMENTS,
    "irkit/schedule/trace/schedule_trace.py:_value": ARGUMENTS,
    "irkit/transform/run.py:_agree": "signatures: a tuple of parameters, with their shapes",
    "irkit/transform/spec.py:_render": "options of a pass: numbers, strings, lists of them",
    "irkit/transform/trace/channel.py:_MessageWriter.data": DATA,
    "irkit/transform/trace/write.py:Writer.data": DATA,
}
"""Recursive functions called through C, and what limits their depth."""


def graph_of(folder: Path) -> CallGraph:
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return CallGraph(found)


def calls_through_c(graph: CallGraph, root: Path) -> Iterator[tuple[str, str]]:
    """List the recursive functions called through C: the name, and the place and way of a call."""
    network: nx.DiGraph[Definition] = nx.DiGraph()
    network.add_nodes_from(graph.definitions)
    network.add_edges_from((d, call.target) for d in graph.definitions for call in d.calls)
    cycle = {d: n for n, part in enumerate(nx.strongly_connected_components(network)) for d in part}
    for definition in graph.definitions:
        for call in definition.calls:
            way = call.way or through_c(call.target)
            if way and cycle[definition] == cycle[call.target]:
                name = f"{named(call.target, root)}:{call.target.name}"
                place = f"{named(definition, root)}:{call.line}"
                yield name, f"{place}: {definition.name} calls {call.target.name} through {way}"


def named(definition: Definition, root: Path) -> str:
    return definition.path.relative_to(root).as_posix()


@cache
def through_c(definition: Definition) -> str:
    """Return what makes each call of a function go through C, if anything does."""
    if not isinstance(definition.node, FunctionNode):
        return ""
    if is_generator(definition.node):
        return "a generator"
    names = map(ast.unparse, definition.node.decorator_list)
    return next((f"@{name}" for name in names if name not in PLAIN_DECORATORS), "")


def is_generator(node: ast.AST) -> bool:
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in own_nodes(node))


def guarded_generators(graph: CallGraph, root: Path) -> Iterator[str]:
    """List the generator functions that hold the guard."""
    for definition in graph.definitions:
        node = definition.node
        if not isinstance(node, FunctionNode) or not is_generator(node):
            continue
        blocks = [part for part in own_nodes(node) if isinstance(part, (ast.With, ast.AsyncWith))]
        held = [item.context_expr for block in blocks for item in block.items]
        for expr in (*node.decorator_list, *held):
            if ast.unparse(expr).split(".")[-1] == "deep_recursion":
                yield f"{named(definition, root)}:{expr.lineno}: {definition.name}"


@pytest.fixture(scope="module")
def whole() -> CallGraph:
    """Return the calls of irkit; to read them takes seconds, which not every worker must spend."""
    return graph_of(ROOT / "irkit")


def test_no_recursive_function_is_called_through_c(whole: CallGraph) -> None:
    found = list(calls_through_c(whole, ROOT))
    wrong = [text for name, text in found if name not in EXCUSED]
    assert not wrong, "\n".join([f"{REMEDY}:", *wrong])
    stale = EXCUSED.keys() - dict(found).keys()
    assert not stale, f"take out of EXCUSED: {sorted(stale)}"


def test_no_generator_holds_the_guard(whole: CallGraph) -> None:
    wrong = list(guarded_generators(whole, ROOT))
    remedy = "whoever runs a generator would run without a limit; release the guard before a yield"
    assert not wrong, "\n".join([f"{remedy}:", *wrong])


PLANTED = {
    "a generator expression": "def f(x): return tuple(f(y) for y in x)",
    "a generator expression of another": """
        def f(x): return g(x)
        def g(x): return sum(f(y) for y in x)""",
    "an argument of map": "def f(x): return tuple(map(f, x))",
    "an argument of sorted": "def f(x): return sorted(x, key=f)",
    "an argument of max": "def f(x): return max(x, key=lambda y: f(y))",
    "an argument of partial": """
        from functools import partial
        def f(x): return partial(f, x)()""",
    "a call with * or **": "def f(*x): return f(*x[1:])",
    "@cache": """
        from functools import cache
        @cache
        def f(x): return [f(y) for y in x]""",
    "@deep_recursion": """
        @deep_recursion
        def f(x): return [f(y) for y in x]""",
    "@property": """
        class Tree:
            @property
            def depth(self): return 1 + self._most()
            def _most(self): return self.depth""",
    "a generator": """
        def f(x):
            for y in x:
                yield from f(y)""",
    "the constructor of a class": """
        class Copy:
            def __init__(self, x): self.parts = [Copy(y) for y in x]""",
    "an argument of map in a method": """
        class Visitor:
            def visit(self, x): return list(map(self.visit, x))""",
    "a generator expression in a function that a table holds": """
        def visit(x): return TABLE[type(x)](x)
        def many(x): return any(visit(y) for y in x)
        TABLE = {tuple: many}""",
    "a generator expression in a nested function": """
        def f(root):
            def visit(x): return tuple(visit(y) for y in x)
            return visit(root)""",
    "a generator expression through an annotated parameter": """
        class Printer:
            def text(self, x): return form(self, x)
        def form(printer: Printer, x): return ", ".join(printer.text(y) for y in x)""",
}

PLAIN = {
    "a list comprehension": "def f(x): return tuple([f(y) for y in x])",
    "a loop": """
        def f(x):
            for y in x:
                f(y)""",
    "what a generator expression begins with": "def f(x): return sum(y for y in f(x[1:]))",
    "another function in a generator expression": """
        def g(x): return x
        def f(x): return [f(y) for y in x] + list(g(y) for y in x)""",
    "a name that hides the function": "def f(f): return tuple(f(y) for y in f)",
    "a function that takes the visitor": """
        def f(x): return each(x, f)
        def each(x, change): return [change(y) for y in x]""",
    "an instance check": """
        class Copy:
            def __init__(self, x): self.parts = parts(x)
        def parts(x): return [isinstance(y, Copy) for y in x]""",
}


def planted(folder: Path, text: str) -> CallGraph:
    (folder / "package").mkdir()
    (folder / "package" / "visitor.py").write_text(dedent(text).strip() + "\n")
    return graph_of(folder / "package")


@pytest.mark.parametrize("way", PLANTED)
def test_recursion_through_c_is_found(tmp_path: Path, way: str) -> None:
    found = list(calls_through_c(planted(tmp_path, PLANTED[way]), tmp_path))
    assert len(found) >= 1
    assert all(text.startswith("package/visitor.py:") for _, text in found)
    expected = way.split(" in ")[0].split(" of another")[0].split(" through ")[0]
    assert any(text.endswith(f"through {expected}") for _, text in found), found


@pytest.mark.parametrize("way", PLAIN)
def test_plain_recursion_is_not_reported(tmp_path: Path, way: str) -> None:
    assert not list(calls_through_c(planted(tmp_path, PLAIN[way]), tmp_path))


def test_a_method_that_a_derived_class_in_another_module_overrides_is_found(tmp_path: Path) -> None:
    base = "class Base:\n    def below(self, x): return tuple(self.visit(y) for y in x)\n"
    derived = (
        "from package.visitor import Base\n\n"
        "class Derived(Base):\n    def visit(self, x): return self.below(x)\n"
    )
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "visitor.py").write_text(base)
    (tmp_path / "package" / "derived.py").write_text(derived)
    found = dict(calls_through_c(graph_of(tmp_path / "package"), tmp_path))
    assert list(found) == ["package/derived.py:Derived.visit"]


GUARDED = {
    "a block": """
        def steps(x):
            with deep_recursion:
                yield x""",
    "a block before the yield, with others": """
        def steps(x):
            with open(x) as file, core.deep_recursion:
                pass
            yield file""",
    "a decorator": """
        @deep_recursion
        def steps(x):
            yield x""",
}


@pytest.mark.parametrize("way", GUARDED)
def test_a_guarded_generator_is_found(tmp_path: Path, way: str) -> None:
    (found,) = guarded_generators(planted(tmp_path, GUARDED[way]), tmp_path)
    assert found.endswith(": steps")


def test_a_guard_around_a_call_that_makes_a_generator_is_not_reported(tmp_path: Path) -> None:
    text = """
        def steps(x):
            with deep_recursion:
                found = [y for y in visit(x)]
            def each():
                yield from found
            return each()"""
    assert not list(guarded_generators(planted(tmp_path, text), tmp_path))
