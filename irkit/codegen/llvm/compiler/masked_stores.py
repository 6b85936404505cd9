"""Workaround for masked stores of narrow integers in the code generator of LLVM 22.

If the mask of such a store is a constant with one lane set, LLVM makes a scalar store of that
lane; for AVX-512 it does so even where the value was truncated, and then writes all bytes of the
wide value. So, after LLVM's passes, each mask is combined with a condition that LLVM cannot know
to be true:

before:
    call void @llvm.masked.store.v4i16.p0(<4 x i16> %x, ptr %p, <4 x i1> <i1 true, i1 false, ...>)
after:
    %irkit.mask1 = and <4 x i1> <i1 true, i1 false, ...>, %irkit.always4
    call void @llvm.masked.store.v4i16.p0(<4 x i16> %x, ptr %p, <4 x i1> %irkit.mask1)
"""

import re
from collections.abc import Iterable

_NARROW = re.compile(r"llvm\.masked\.store\.v\d+i(8|16|32)\.p0")
_CALL = re.compile(
    r"(?P<head>.*call void @llvm\.masked\.store\.v(?P<lanes>\d+)i(?:8|16|32)\.p0\(.*), "
    r"<(?P=lanes) x i1> (?P<mask>.*)\)(?P<rest>[^)]*)"
)
_LABEL = re.compile(r'([-\w.$]+|".*"):')


def has_narrow_masked_stores(functions: Iterable[str]) -> bool:
    """Return True if a module with functions of these names has such a store."""
    return any(_NARROW.fullmatch(name) for name in functions)


def hide_masks(llvm_text: str) -> str:
    """Combine the mask of each masked store of narrow integers with an opaque condition."""
    made: list[str] = []
    entry, count = 0, 0
    widths = set[str]()
    for line in llvm_text.splitlines():
        if line.startswith("define "):
            entry, widths = len(made) + 1, set[str]()
        elif made and len(made) == entry and _LABEL.match(line):
            entry += 1
        found = _CALL.fullmatch(line)
        if found is None:
            made.append(line)
            continue
        lanes, count = found["lanes"], count + 1
        if lanes not in widths:
            known = [] if widths else _condition()
            new = [*known, *_repeated(lanes)]
            made[entry:entry] = new
            entry += len(known)
            widths.add(lanes)
        mask = f"%irkit.mask{count}"
        made.append(f"  {mask} = and <{lanes} x i1> {found['mask']}, %irkit.always{lanes}")
        made.append(f"{found['head']}, <{lanes} x i1> {mask}){found['rest']}")
    return "\n".join((*made, ""))


def _condition() -> list[str]:
    return [
        '  %irkit.byte = call i8 asm "", "=r,0"(i8 1)',
        "  %irkit.always = trunc i8 %irkit.byte to i1",
    ]


def _repeated(lanes: str) -> list[str]:
    kind = f"<{lanes} x i1>"
    first = f"%irkit.first{lanes}"
    return [
        f"  {first} = insertelement {kind} poison, i1 %irkit.always, i32 0",
        f"  %irkit.always{lanes} = shufflevector {kind} {first}, {kind} poison, "
        f"<{lanes} x i32> zeroinitializer",
    ]
