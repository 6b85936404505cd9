"""C code of instructions: a C compiler takes it, and it computes the meaning; and their text."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from irkit.codegen import host_target
from irkit.core import IRKitError, same
from irkit.ir import (
    Instruction,
    c_function,
    instruction_text,
    interpret,
    known_instructions,
    numpy_dtype,
    parse,
    parse_instruction,
    script,
)

GCC = shutil.which("gcc")
HOST = host_target()
WITH_C = [row for row in known_instructions() if row.c]
HERE = [row for row in WITH_C if row.is_native(HOST.triple, HOST.features)]
FLAGS = ("avx512f", "avx512vl", "avx512bw", "avx512vnni", "avx512bf16", "avx512fp16")
TWICE = """def twice(a: i32[4], out: i32[4]):
    for i in serial(0, 4):
        out[i] = a[i] + a[i]
"""
CODE = "for (int i = 0; i < 4; ++i) {out}[i] = 2 * {a}[i];"


@pytest.mark.skipif(GCC is None, reason="no C compiler")
def test_c_code_computes_the_meaning(tmp_path: Path) -> None:
    assert GCC is not None
    x86 = "x86_64" in HOST.triple
    rows = [row for row in WITH_C if row.arch in ("", "x86_64" if x86 else "aarch64")]
    assert len(rows) > 12
    source, library = tmp_path / "all.c", tmp_path / "all.so"
    source.write_text("\n".join(c_function(row, row.name) for row in rows))
    flags = [f"-m{name}" for name in FLAGS] if x86 else ["-march=armv8.6-a"]
    made = subprocess.run(
        [GCC, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", *flags, source, "-o", library],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    loaded, random = ctypes.CDLL(str(library)), np.random.default_rng(0)
    for row in HERE:
        kinds = [numpy_dtype(dtype) for dtype in (*row.types, row.dtype)]
        lanes = [dtype.lanes for dtype in (*row.types, row.dtype)]
        given = [
            random.integers(0, 100, count).astype(kind)
            for kind, count in zip(kinds, lanes, strict=True)
        ]
        meant = [each.copy() for each in given]
        getattr(loaded, row.name)(*(ctypes.c_void_p(each.ctypes.data) for each in given))
        interpret(row.meaning, *meant)
        assert (given[-1] == meant[-1]).all(), row.name


@pytest.mark.parametrize(
    ("c", "reason"),
    [(CODE.replace("{a}", "{b}"), "C code uses 'b'"), ("{a};", "C code does not write 'out'")],
)
def test_wrong_c_code_is_refused(c: str, reason: str) -> None:
    with pytest.raises(IRKitError, match=reason):
        Instruction("test_twice", parse(TWICE), "add <4 x i32> {a}, {a}", "x86_64", (), c)


def test_an_instruction_without_c_code_has_no_function() -> None:
    row = Instruction("test_twice", parse(TWICE), "add <4 x i32> {a}, {a}", "x86_64")
    with pytest.raises(IRKitError, match="'test_twice' has no C code"):
        c_function(row, "f")


@pytest.mark.parametrize("row", known_instructions(), ids=lambda row: row.name)
def test_the_text_of_an_instruction_reads_back(row: Instruction) -> None:
    text = instruction_text(row)
    found = parse_instruction(text)
    for field in ("name", "llvm", "arch", "features", "c"):
        assert getattr(found, field) == getattr(row, field)
    assert same(found.meaning, row.meaning)
    assert found.meaning.attrs == row.meaning.attrs
    assert instruction_text(found) == text


@pytest.mark.parametrize("missing", ["instruction", "llvm", "arch", "features", "c"])
def test_a_text_that_lacks_a_field_is_refused(missing: str) -> None:
    row = Instruction("test_twice", parse(TWICE), "{a}", "", ("x",), CODE)
    func = parse(instruction_text(row))
    kept = tuple(pair for pair in func.attrs if pair[0] != missing)
    with pytest.raises(IRKitError, match="no instruction: expected a loop function"):
        parse_instruction(script(func.replace(attrs=kept)))
