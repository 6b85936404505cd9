"""What the innermost loops of assembly are made of: features that the loops of the IR do not show.

Only the code generator decides what is spilled, which loads are part of other instructions, and how
many scalar instructions compute addresses. The assembly is that of x86 as LLVM writes it, AT&T's
words; of another processor nothing is known, and nothing is counted.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

MIX_VERSION = 1
"""Changes when a kind is added or counted otherwise: other counts are not used."""

_KINDS = (
    "fma", "arithmetic", "scalar arithmetic", "compares", "shuffles", "broadcasts", "gathers",
    "vector loads", "vector stores", "scalar loads", "scalar stores", "spill loads", "spill stores",
    "moves", "integer", "calls", "branches", "sums", "lanes", "instructions", "bytes",
)  # fmt: skip
"""What is counted in the hottest loop; ``sums`` are registers that the next iteration
reads again, ``lanes`` the elements that all its arithmetic computes, ``bytes`` an estimate of its
length."""
_WHOLE = ("loops", "depth", "all instructions", "all spills", "all calls")

_LABEL = re.compile(r"([.\w$]+):")
_LINE = re.compile(r"\s+([a-z]\w*)(?:\s+([^#]+))?")
_JUMP = re.compile(r"j[a-z]+$")
_STACK = re.compile(r"\(%r[sb]p\b")
_REGISTER = re.compile(r"%([xyz])mm(\d+)")
_FMA = re.compile(r"vfn?m(?:add|sub)\w*?(p[sdh]|s[sdh])$|vpdp\w+(d)s?$|vdpbf16(ps)$")
_ARITHMETIC = re.compile(
    r"v(?:add|sub|mul|div|min|max|sqrt|rsqrt|rcp|and|andn|or|xor|round|rndscale|cvt\w*?|padd|psub"
    r"|pmul\w*?|pmadd\w*?|pmin[su]|pmax[su]|pand|pandn|por|pxor|psll|psrl|psra|pabs)"
    r"(p[sdh]|s[sdh]|[bwdq])?$"
)
_COMPARE = re.compile(r"v(?:cmp|blend|pblend|pcmp|ucomi|comi|test|ptest|pternlog)")
_SHUFFLE = re.compile(
    r"v(?:perm|shuf|unpck|insert|extract|palign|pack|pshuf|movhl|movlh|movs[lh]dup|movddup|punpck"
    r"|align|pmov[sz]x|compress|expand)"
)
_WIDTHS = {"x": 16, "y": 32, "z": 64}
_SIZES = {"ps": 4, "pd": 8, "ph": 2, "b": 1, "w": 2, "d": 4, "q": 8}
_IDIOMS = frozenset({"vxorps", "vpxor", "vxorpd", "xorl"})
"""Instructions that make a zero of a register and itself, which takes no unit."""
_ALONE = ("ss", "sd", "sh")
_OF_REGISTERS = frozenset(
    {"fma", "arithmetic", "scalar arithmetic", "compares", "shuffles", "integer"}
)
"""Kinds of instructions that may load an operand besides."""
_OFFSET = re.compile(r"(?<![\w$.])(-?\d+)\(")
_SHARED = ("spill loads", "spill stores", "integer")
"""Kinds that a loop should not have: how many it has beside its arithmetic is a feature."""
_ARITHMETIC_UNITS, _LOADS, _ISSUED, _LATENCY = 2, 2, 4, 4
"""Vector arithmetic and loads a cycle, instructions a cycle, cycles that a sum waits for itself: of
no processor in particular, so that what is learned on one serves on another."""
_LONGEST_WAIT, _CALL = 64.0, 40.0
_HEAT = 8.0
"""How many times as often a loop runs as the one around it, where nobody knows."""


class _Loop(msgspec.Struct, frozen=True):
    """Instructions of an innermost loop, from its label to the jump back, and how many loops it and
    those around it are."""

    begin: int
    end: int
    depth: int


_Op = tuple[str, str]
"""A mnemonic and its operands."""


def instruction_mix(text: str) -> dict[str, float]:
    """Count the instructions of the hottest innermost loop of assembly by kind, and some of all of
    it. Nothing is counted in what is not x86."""
    ops, jumps = _read(text)
    if not any("%r" in operands for _, operands in ops):
        return {}
    whole = _counted(ops)
    found = [(loop, _counted(ops[loop.begin : loop.end])) for loop in _innermost(jumps)]
    loop, hot = max(found, key=_heat, default=(_Loop(0, len(ops), 0), whole))
    spills = whole["spill loads"] + whole["spill stores"]
    rest = (len(found), loop.depth, whole["instructions"], spills, whole["calls"])
    return {name: float(hot[name]) for name in _KINDS} | {
        name: float(count) for name, count in zip(_WHOLE, rest, strict=True)
    }


def mix_row(mix: Mapping[str, float]) -> list[float]:
    """Return a mix as features: the logarithm of the cycles that an element is expected to take,
    what is spilled and computed beside each instruction of the arithmetic, and how long the loop
    and all of the code are. Empty if a kind is missing.

    More of the counts ranked candidates worse: a search has hundreds of measurements, not millions.
    """
    if any(name not in mix for name in (*_KINDS, *_WHOLE)):
        return []
    work = _work(mix) or 1.0
    shares = [mix[name] / work for name in _SHARED]
    lengths = [mix[name] for name in ("instructions", "all instructions")]
    return [math.log(cycles_of_element(mix)), *shares, *lengths]


def cycles_of_element(mix: Mapping[str, float]) -> float:
    """Estimate the cycles that the hottest loop takes for each element that its arithmetic makes:
    the busiest unit decides, or a sum that waits for itself."""
    busy = _work(mix) + mix["shuffles"]
    loads = sum(mix[each] for each in ("vector loads", "scalar loads", "broadcasts", "spill loads"))
    stores = sum(mix[each] for each in ("vector stores", "scalar stores", "spill stores"))
    waits = _LATENCY * (mix["fma"] + mix["arithmetic"]) / mix["sums"] if mix["sums"] else 0.0
    units = (busy / _ARITHMETIC_UNITS, loads / _LOADS, stores, mix["instructions"] / _ISSUED)
    cycles = max(*units, min(waits, _LONGEST_WAIT), 1.0)
    return (cycles + _CALL * mix["calls"]) / max(mix["lanes"], 1.0)


def _work(mix: Mapping[str, float]) -> float:
    return mix["fma"] + mix["arithmetic"] + mix["scalar arithmetic"] + mix["compares"]


def _heat(found: tuple[_Loop, Counter[str]]) -> tuple[float, int]:
    loop, counts = found
    return _HEAT**loop.depth * (_work(counts) + 1), -loop.begin


def _read(text: str) -> tuple[list[_Op], list[tuple[int, int]]]:
    """Return the instructions, and for each jump back to where it goes and where it is."""
    ops: list[_Op] = []
    labels: dict[str, int] = {}
    jumps: list[tuple[int, int]] = []
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label is not None:
            labels[label[1]] = len(ops)
            continue
        found = _LINE.match(line)
        if found is None:
            continue
        name, operands = found[1], (found[2] or "").strip()
        if _JUMP.match(name) and operands in labels:
            jumps.append((labels[operands], len(ops) + 1))
        ops.append((name, operands))
    return ops, jumps


def _innermost(jumps: Sequence[tuple[int, int]]) -> list[_Loop]:
    """Return the loops that contain no other. Several jumps to one label are one loop."""
    ends: dict[int, int] = {}
    for begin, end in jumps:
        ends[begin] = max(ends.get(begin, 0), end)
    loops = sorted(ends.items())
    return [
        _Loop(begin, end, sum(b <= begin and end <= e for b, e in loops))
        for begin, end in loops
        if not any(begin < b and e <= end for b, e in loops)
    ]


def _counted(ops: Sequence[_Op]) -> Counter[str]:
    made: Counter[str] = Counter()
    written: set[str] = set()
    carried: set[str] = set()
    for name, operands in ops:
        made["instructions"] += 1
        made["bytes"] += _length(name, operands)
        kind = _kind(name, operands)
        made[kind] += 1
        if kind in ("fma", "arithmetic", "scalar arithmetic"):
            made["lanes"] += _lanes(name, operands)
        if "(" in operands and kind in _OF_REGISTERS and not operands.endswith(")"):
            made[_access(name, operands, stored=False)] += 1
        registers = [number for _, number in _REGISTER.findall(operands)]
        stored = operands.endswith(")")
        read = registers if stored or kind == "fma" else registers[:-1]
        if kind != "moves":
            carried.update(each for each in read if each not in written)
        if registers and not stored:
            written.add(registers[-1])
    made["sums"] = len(carried & written)
    return made


def _kind(name: str, operands: str) -> str:
    """Return what an instruction does."""
    if name.startswith("call"):
        return "calls"
    if _JUMP.match(name):
        return "branches"
    if not name.startswith("v"):
        moves = name.startswith("mov") and "(" in operands
        return _access(name, operands, stored=operands.endswith(")")) if moves else "integer"
    if name.startswith(("vbroadcast", "vpbroadcast")):
        return "broadcasts"
    if name.startswith(("vgather", "vpgather")):
        return "gathers"
    if name in _IDIOMS and len(set(operands.replace(" ", "").split(","))) == 1:
        return "moves"
    if _FMA.match(name):
        return "fma"
    if _ARITHMETIC.match(name):
        return "scalar arithmetic" if name.endswith(_ALONE) else "arithmetic"
    if _COMPARE.match(name):
        return "compares"
    if "(" in operands and operands.endswith(")"):
        return _access(name, operands, stored=True)
    if _SHUFFLE.match(name):
        return "shuffles"
    if name.startswith(("vmov", "vlddqu", "vmaskmov", "vpmaskmov")) and "(" in operands:
        return _access(name, operands, stored=False)
    return "moves"


def _access(name: str, operands: str, *, stored: bool) -> str:
    """Return the kind of a load or a store."""
    if _STACK.search(operands):
        return "spill stores" if stored else "spill loads"
    if "{1to" in operands:
        return "broadcasts"
    vector = "mm" in operands and not name.endswith(_ALONE)
    return ("vector " if vector else "scalar ") + ("stores" if stored else "loads")


def _lanes(name: str, operands: str) -> int:
    """Return how many elements an instruction computes."""
    if name.endswith(_ALONE):
        return 1
    registers = _REGISTER.findall(operands)
    found = _FMA.match(name) or _ARITHMETIC.match(name)
    suffix = next((each for each in found.groups() if each), "ps") if found else "ps"
    return _WIDTHS[registers[-1][0]] // _SIZES.get(suffix, 4) if registers else 1


def _length(name: str, operands: str) -> int:
    """Estimate the bytes of an instruction."""
    size = 4 if name.startswith("v") else 3
    if "zmm" in operands or "%k" in operands:
        size += 2
    offset = _OFFSET.search(operands)
    if offset is not None:
        size += 1 if -128 <= int(offset[1]) < 128 else 4
    return size
