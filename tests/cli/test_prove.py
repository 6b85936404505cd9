"""``irkit check --prove`` and ``irkit opt --prove``."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from irkit.cli.verbs import irkit
from irkit.core import IRKitError
from irkit.ir import parse_module
from irkit.proof import z3_module
from tests.cli.command import call as call_verb
from tests.cli.test_check import KERNEL

PASS = '''\
from irkit.core import rewrite, substitute
from irkit.ir import For, PrimFunc
from irkit.transform import define_pass


@define_pass
def backwards(func: PrimFunc) -> PrimFunc:
    """Run loops backwards."""

    def turned(loop: For) -> For:
        return loop.replace(body=substitute(loop.body, {loop.var: loop.end - 1 - loop.var}))

    return rewrite(func, turned, on=For)
'''


def call(*args: str) -> Result:
    return CliRunner().invoke(irkit, args)


def test_with_prove_each_row_says_what_it_rests_on(folder: Path) -> None:
    pytest.importorskip("z3")
    (folder / "scale.irs").write_text(KERNEL)
    result = call("check", "scale.irs", "--prove")
    assert result.exit_code == 0
    rows = {line.split("│")[2].strip(): line for line in result.output.splitlines() if "│" in line}
    assert "proved for all values" in rows["narrow-indices"]
    assert "3 same (proved)" in result.output
    (folder / "backwards_in_a_test.py").write_text(PASS)
    result = call("check", "scale.irs", "--prove", "--pass", "0:backwards_in_a_test:backwards")
    assert result.exit_code == 0
    rows = {line.split("│")[2].strip(): line for line in result.output.splitlines() if "│" in line}
    assert "tested on" in rows["backwards"]
    assert "not for all values: " in rows["backwards"]


def test_prove_needs_z3(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    (folder / "scale.irs").write_text(KERNEL)
    z3_module.cache_clear()
    monkeypatch.setattr("irkit.proof.solver.import_module", missing)
    with pytest.raises(IRKitError, match=r"pip install 'irkit\[prove\]'"):
        CliRunner().invoke(irkit, ["check", "scale.irs", "--prove"], catch_exceptions=False)
    z3_module.cache_clear()


def test_opt_prove_says_what_each_step_rests_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("z3")
    code, out, error = call_verb(capsys, "opt", "add.irs", "--prove", "--stop-after", "1")
    assert code == 0
    assert parse_module(out).functions["add"]
    rows = [line for line in error.splitlines() if "│" in line]
    assert any("lower-blocks" in row and "proved for all values" in row for row in rows)
    (folder / "backwards_in_a_test.py").write_text(PASS)
    (folder / "scale.irs").write_text(KERNEL)
    place = "0:backwards_in_a_test:backwards"
    code, _, error = call_verb(capsys, "opt", "scale.irs", "--prove", "--pass", place)
    assert code == 0
    rows = [line for line in error.splitlines() if "backwards" in line]
    assert any("proved for n = 0, 1, " in row and "not for all values: " in row for row in rows)
