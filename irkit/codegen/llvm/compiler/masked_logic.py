"""Workaround for selects between a vector and bits of it in the code generator of LLVM 22.

For AVX-512, LLVM makes one masked instruction of a select and of logic on three vectors. If one of
them is a constant in memory, and the other choice of the select is a vector that the logic reads,
as in ``select(c, x, (x & K) | (y & ~K))``, it exchanges two operands without changing the table of
the logic, and the result is wrong. So, after LLVM's passes, the result of logic is hidden from such
a select:

before:
    %s = select <4 x i1> %c, <4 x i32> %x, <4 x i32> %logic
after:
    %irkit.float1 = bitcast <4 x i32> %logic to <4 x float>
    %irkit.fence1 = call <4 x float> @llvm.arithmetic.fence.v4f32(<4 x float> %irkit.float1)
    %irkit.logic1 = bitcast <4 x float> %irkit.fence1 to <4 x i32>
    %s = select <4 x i1> %c, <4 x i32> %x, <4 x i32> %irkit.logic1

The fence is no instruction. Unlike an empty one of assembly it may have any number of lanes. Only
lanes of 32 and 64 bits have masked logic.
"""

import re

_NAME = r"%(?:[-\w.$]+|\"[^\"]*\")"
_EACH = re.compile(_NAME)
_VECTOR = r"<\d+ x (?:i8|i16|i32|i64|half|bfloat|float|double)>"
_WIDE = re.compile(r"<(\d+) x (i32|i64|float|double)>")
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
    declared: dict[str, str] = {}
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
            wide = _WIDE.fullmatch(kind)
            for at, choice in enumerate(choices):
                if wide and choice in reads and one & other:
                    count += 1
                    choices[at] = f"%irkit.logic{count}"
                    made += _fence(kind, wide[1], wide[2], choice, count, declared)
            line = f"{found['head']}{kind} {choices[0]}, {kind} {choices[1]}{found['rest']}"
        made.append(line)
    if not count:
        return llvm_text
    missing = [
        line
        for name, line in declared.items()
        if not re.search(rf"^declare .*{name}\(", llvm_text, re.MULTILINE)
    ]
    return "\n".join((*made, *missing, ""))


def _fence(
    kind: str, lanes: str, element: str, choice: str, count: int, declared: dict[str, str]
) -> list[str]:
    double = element in ("i64", "double")
    name = f"@llvm.arithmetic.fence.v{lanes}f{64 if double else 32}"
    floats = f"<{lanes} x {'double' if double else 'float'}>"
    declared[name] = f"declare {floats} {name}({floats})"
    before, after = f"%irkit.float{count}", f"%irkit.fence{count}"
    return [
        f"  {before} = bitcast {kind} {choice} to {floats}",
        f"  {after} = call {floats} {name}({floats} {before})",
        f"  %irkit.logic{count} = bitcast {floats} {after} to {kind}",
    ]
