"""``irkit split``: a folder with a test of each kernel."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import irkit
from irkit.cli import split as verb
from irkit.core import rewrite
from irkit.ir import Max, Min, PrimFunc
from tests.cli.command import ROOT, call

SPLIT = ("split", "model.onnx", "-o", "kernels", "--shape", "data_0=2,8")


def run_pytest() -> "subprocess.CompletedProcess[str]":
    """Run the tests of the folder as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "kernels"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )


def test_the_tests_pass_and_find_a_bug_in_a_kernel(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, *SPLIT)
    assert code == 0
    kernels = sorted(path.parent for path in folder.glob("kernels/*/kernel.irs"))
    assert out == (f"kernels: {len(kernels)} kernels; test them with: python -m pytest kernels\n")
    done = run_pytest()
    assert done.returncode == 0, done.stdout
    assert f"{len(kernels)} passed" in done.stdout
    with_max = [path for path in kernels if "max(" in (path / "kernel.irs").read_text()]
    wrong = with_max[0] / "kernel.irs"
    wrong.write_text(wrong.read_text().replace("max(", "min("))
    done = run_pytest()
    assert done.returncode == 1
    assert f"1 failed, {len(kernels) - 1} passed" in done.stdout
    assert "elements are wrong" in done.stdout


def test_a_kernel_that_the_compiler_gets_wrong_is_named_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    build = irkit.build

    def least(node: Max) -> Min:
        return Min(node.a, node.b, node.dtype)

    def wrong(func: PrimFunc) -> object:
        return build(rewrite(func, least, on=Max))

    monkeypatch.setattr(verb.irkit, "build", wrong)
    code, out, err = call(capsys, *SPLIT)
    assert code == 1
    assert "kernel.irs: " in err
    assert "elements are wrong" in err
    assert err.endswith("1 kernels compute something else than NumPy\n")
    assert "test them with" in out


def test_given_inputs_are_those_of_the_first_kernel(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8)
    np.save("x.npy", x)
    assert call(capsys, *SPLIT, "--input", "data_0=x.npy")[0] == 0
    found = [np.load(path)["p0"] for path in folder.glob("kernels/*/inputs.npz")]
    assert any(np.array_equal(each, x) for each in found)


def test_the_same_seed_gives_the_same_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in ("1", "1", "2"):
        args = ("-o", f"kernels{len(list(folder.glob('kernels*')))}", "--seed", seed)
        assert call(capsys, *SPLIT, *args)[0] == 0
    texts = [
        sorted(
            (path.parent.name, np.load(path)["p0"].tobytes())
            for path in folder.glob(f"kernels{number}/*/inputs.npz")
        )
        for number in range(3)
    ]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--input", "y=x.npy"), "'y' is not an input; the inputs are: data_0"),
        (("--input", "data_0=x.npy"), r"input 'data_0' must have shape (2, 8), found (3,)"),
        (("--input", "data_0=d.npy"), "input 'data_0' must be of type float32, found float64"),
        (("--input", "data_0=no.npy"), "cannot read 'no.npy'"),
    ],
)
def test_wrong_inputs_are_named_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], words: str
) -> None:
    np.save("x.npy", np.zeros(3, np.float32))
    np.save("d.npy", np.zeros((2, 8)))
    code, _, err = call(capsys, *SPLIT, *args)
    assert code == 2
    assert words in err
    assert not (folder / "kernels").exists()


def test_a_folder_with_files_is_left_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "kernels").mkdir()
    (folder / "kernels" / "mine").write_text("text")
    code, _, err = call(capsys, *SPLIT)
    assert code == 2
    assert "the folder kernels is not empty" in err
    assert [path.name for path in (folder / "kernels").iterdir()] == ["mine"]


def test_loops_are_no_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.irs").write_text("def k(A: f32[4]):\n    A[0] = f32(1.0)\n")
    code, _, err = call(capsys, "split", "k.irs", "-o", "kernels")
    assert code == 2
    assert "k.irs has no graph function 'main', so it is no model" in err
