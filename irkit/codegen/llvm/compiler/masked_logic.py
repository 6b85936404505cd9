"""Workaround for selects between a vector and bits of it in the code generator of LLVM 22.

For AVX-512, LLVM makes one masked instruction of a select and of logic on three vectors. If one of
them is a constant in memory, and the other choice of the select is a vector that the logic reads,
as in ``select(c, x, (x & K) | (y & ~K))``, it exchanges two operands without changing the table of
the logic, and the result is wrong. So, after LLVM's passes, the result of logic is hidden from such
a select:

before:
    %s = select <4 x i1> %c, <4 x i32> %x, <4 x i32> %logic
after:
    %irkit.logic1 = call <4 x i32> asm "", "=v,0"(<4 x i32> %logic)
    %s = select <4 x i1> %c, <4 x i32> %x, <4 x i32> %irkit.logic1
"""

import re

_NAME = r"%(?:[-\w.$]+|\"[^\"]*\")"
_EACH = re.compile(_NAME)
_VECTOR = r"<\d+ x (?:i8|i16|i32|i64|half|bfloat|float|double)>"
_LOGIC = re.compile(
    rf"\s*({_NAME}) = (?:(?:or|xor|and|fneg) |bitcast {_VECTOR} "
    rf"|(?:\w+ )*call [\w ]*{_VECTOR} @llvm\.(?:copysign|fabs)\.)(.*)"
)
_SELECT = re.compile(
    rf"(?P<head>\s*{_NAME} = select (?:\w+ )*<\d+ x i1> [^,]+, )"
    rf"(?P<kind>{_VECTOR}) (?P<one>[^,]+), (?P=kind) (?P<other>{_NAME}|[^,]+)(?P<rest>(?:, !.*)?)"
)


def hide_logic(llvm_text: str) -> str:
    """Hide the result of logic from each select between it and what it reads."""
    if "select " not in llvm_text:
        return llvm_text
    made: list[str] = []
    reads: dict[str, frozenset[str]] = {}
    count = 0
    for line in llvm_text.splitlines():
        if line.startswith("define "):
            reads.clear()
        elif found := _LOGIC.match(line):
            below = [reads.get(name, frozenset({name})) for name in _EACH.findall(found[2])]
            reads[found[1]] = frozenset().union(*below)
        elif found := _SELECT.fullmatch(line):
            kind, choices = found["kind"], [found["one"], found["other"]]
            one, other = (reads.get(name, frozenset({name})) for name in choices)
            for at, choice in enumerate(choices):
                if choice in reads and one & other:
                    count += 1
                    choices[at] = f"%irkit.logic{count}"
                    made.append(f'  {choices[at]} = call {kind} asm "", "=v,0"({kind} {choice})')
            line = f"{found['head']}{kind} {choices[0]}, {kind} {choices[1]}{found['rest']}"
        made.append(line)
    return "\n".join((*made, "")) if count else llvm_text
