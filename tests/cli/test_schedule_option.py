"""``--schedule``: loops as written, with the automatic schedule, or with the steps of a file."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from irkit.cli.verbs import irkit

KERNEL = """\
@attrs(unscheduled=True)
def double(A: f32[4096], C: f32[4096]):
    for i in serial(0, 4096):
        with block("C"):
            v = axis.spatial(4096, i)
            C[v] = A[v] * f32(2.0)
"""
PASS = '''\
from irkit.core import rewrite
from irkit.ir import For, PrimFunc
from irkit.transform import define_pass


@define_pass
def shorten_vectors(func: PrimFunc) -> PrimFunc:
    """Drop the last lane of vectorized loops."""

    def shorten(loop: For) -> For | None:
        return loop.replace(end=loop.end - 1) if loop.kind == "vectorized" else None

    return rewrite(func, shorten)
'''
WRONG = ("--pass", "0:vectors_in_a_test:shorten_vectors", "--no-isolate", "--samples", "1")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "double.irs").write_text(KERNEL)
    (tmp_path / "vectors_in_a_test.py").write_text(PASS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("IRKIT_SCHEDULE", raising=False)
    monkeypatch.delitem(sys.modules, "vectors_in_a_test", raising=False)


def run(*args: str) -> Result:
    return CliRunner().invoke(irkit, args)


def test_check_names_the_form_in_which_a_pass_is_wrong() -> None:
    found = run("check", "double.irs", *WRONG)
    assert found.exit_code == 1
    assert "loops as written:" in found.output
    assert "of the loops with the automatic schedule" in found.output
    assert run("check", "double.irs", *WRONG, "--schedule", "none").exit_code == 0
    assert run("check", "double.irs", *WRONG, "--schedule", "auto").exit_code == 1


def test_bisect_looks_at_both_forms() -> None:
    found = run("bisect", "double.irs", *WRONG, "--no-reduce")
    assert found.exit_code == 1
    assert found.output.startswith("loops with the automatic schedule:\n")
    assert "shorten" in found.output
    alone = run("bisect", "double.irs", *WRONG, "--no-reduce", "--schedule", "none")
    assert (alone.exit_code, alone.output) == (0, "every step keeps the meaning\n")


def test_opt_keeps_loops_unless_asked() -> None:
    assert run("opt", "double.irs", "--stop-after", "0").output == KERNEL
    auto = run("opt", "double.irs", "--stop-after", "0", "--schedule", "auto", "--remarks")
    assert "vectorized(0, " in auto.output
    assert "sch.vectorize(i_1)" in auto.output


def test_a_word_or_a_file_is_expected() -> None:
    found = run("opt", "double.irs", "--schedule", "fast")
    assert found.exit_code == 2
    assert "Expected 'auto', 'none' or the file of a schedule." in found.output
