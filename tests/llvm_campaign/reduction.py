"""A find made small: the shortest program, its LLVM IR, and the pass of LLVM that makes it wrong.

The program is reduced by dropping lines and by putting simpler expressions in place of others, as
long as it still differs; all that a step may try is compiled and run together. Then LLVM's passes
are counted with ``-opt-bisect-limit``: the first after which the result is wrong is named, with the
IR before and after it. These attempts run in processes of their own, since options of LLVM hold for
a process, and LLVM may end it.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.llvm_campaign.batches import AWAY, Find, case_of, run_cases

SECONDS = 300
_ROUNDS, _AT_ONCE = 40, 24
_PASS = re.compile(r"BISECT: (?:NOT )?running pass \((\d+)\) (.*)")


class Attempt:
    """What a program does on a processor with some of LLVM's passes, in a process of its own."""

    def __init__(self, find: Find, text: str, *options: str) -> None:
        command = [sys.executable, "-m", "tests.llvm_campaign.attempt", find.target, *options]
        given = json.dumps([find.seed, text])
        try:
            done = subprocess.run(
                command, input=given, capture_output=True, text=True, check=False, timeout=SECONDS
            )
            self.code, self.out, self.said = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            self.code, self.out, self.said = -1, "", "it did not end"

    @property
    def differs(self) -> bool:
        """True if the result is wrong, or LLVM ended."""
        return self.code == 1 or self.code < 0


def reduced(find: Find) -> str:
    """Return the shortest program that was reached and is still wrong."""
    text = find.text
    for _ in range(_ROUNDS):
        shorter = sorted(set(_smaller(text)), key=len)
        for begin in range(0, len(shorter), _AT_ONCE):
            wrong = _wrong(find, shorter[begin : begin + _AT_ONCE])
            if wrong:
                text = wrong[0]
                break
        else:
            break
    return text


def pass_at_fault(find: Find, text: str) -> tuple[str, str]:
    """Return the pass of LLVM after which a program is wrong, and the IR before and after it.

    "code generation" is what is wrong without LLVM's passes; "" means that it was not found.
    """
    whole = Attempt(find, text, "-opt-bisect-limit=1000000")
    names = dict(_PASS.findall(whole.said))
    low, high = 0, len(names)
    if not whole.differs:
        return "", ""
    if Attempt(find, text, "-opt-bisect-limit=0").differs:
        return "code generation", ""
    while high - low > 1:
        middle = (low + high) // 2
        if Attempt(find, text, f"-opt-bisect-limit={middle}").differs:
            high = middle
        else:
            low = middle
    before = Attempt(find, text, f"-opt-bisect-limit={low}", "--emit")
    after = Attempt(find, text, f"-opt-bisect-limit={high}", "--emit")
    return names[str(high)], f"; before\n{before.out}\n; after\n{after.out}"


def keep(find: Find, folder: Path) -> Path:
    """Write a find, reduced, into a folder of its own under ``folder``; return that."""
    own = folder / f"{find.target or 'ended'}-{find.seed}"
    own.mkdir(parents=True, exist_ok=True)
    (own / "drawn.irs").write_text(find.text)
    (own / "difference.txt").write_text(find.difference + "\n")
    if find.text:
        text = reduced(find)
        (own / "reduced.irs").write_text(text)
        (own / "reduced.ll").write_text(Attempt(find, text, "--emit", "--before").out)
        name, code = pass_at_fault(find, text)
        (own / "pass.txt").write_text(f"{name or 'not found'}\n")
        (own / "pass.ll").write_text(code)
    return own


def _wrong(find: Find, texts: list[str]) -> list[str]:
    """Return those of some programs that are wrong."""
    cases = [case for text in texts if (case := case_of(find.seed, text)) is not None]
    found = zip(cases, run_cases(find.target, cases), strict=True)
    return [case.text for case, words in found if words and words not in AWAY]


def _smaller(text: str) -> Iterator[str]:
    """Yield programs without a line, or with an operand in place of an expression."""
    lines = text.splitlines()
    for at in range(1, len(lines)):
        indent = _indent(lines[at])
        inside = lines[at + 1 :]
        if lines[at].endswith(":"):
            deeper = " " * (indent + 1)
            inside = [line[1:] if line.startswith(deeper) else line for line in inside]
        yield "\n".join([*lines[:at], *inside, ""])
        for line in _simpler(lines[at].strip()):
            yield "\n".join([*lines[:at], " " * indent + line, *lines[at + 1 :], ""])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _simpler(line: str) -> Iterator[str]:
    """Yield a line with an operand in place of one expression."""
    source = f"{line} pass" if line.endswith(":") else line
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        for operand in _operands(node):
            whole = ast.get_source_segment(source, node)
            part = ast.get_source_segment(source, operand)
            assert isinstance(node, ast.expr)
            assert whole is not None
            begin = node.col_offset
            yield (source[:begin] + str(part) + source[begin + len(whole) :]).removesuffix(" pass")


def _operands(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp(left, _, right):
            return [left, right]
        case ast.Call(ast.Name("select" | "min" | "max"), args):
            return args
        case ast.Call(ast.Name("truncmod"), args):
            return args[:1]
        case _:
            return []
