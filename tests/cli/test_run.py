"""``irkit run``: inputs and outputs."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import irkit
from irkit.core import IRModule
from irkit.graph import Builder
from irkit.ir import as_dtype, numpy_dtype
from tests.cli.command import call, compile_model


def test_the_same_seed_gives_the_same_random_inputs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_model()
    for seed in ("1", "1", "2"):
        code, out, _ = call(capsys, "run", "m.irkit", "--random", "--seed", seed, "-o", "o.npz")
        assert code == 0
        assert "ran in" in out
        with np.load("o.npz") as saved:
            (folder / f"{seed}.npy").write_bytes(saved["file"].tobytes())
    assert (folder / "1.npy").read_bytes() != (folder / "2.npy").read_bytes()


def test_an_array_of_bf16_comes_back_as_it_was_saved(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    b = Builder()
    main = b.finish(b.op("relu", b.param("x", (4,), "bf16")))
    irkit.compile(IRModule({"main": main})).save("half.irkit")
    np.save("half.npy", np.array([1, -2, 3, 4], numpy_dtype(as_dtype("bf16"))))
    code, out, _ = call(capsys, "run", "half.irkit", "--input", "x=half.npy")
    assert code == 0
    assert out.startswith("relu: bfloat16[4] from 0 to 4\n")


def test_outputs_of_any_name_are_saved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compile_model()  # The output is called "file", which numpy.savez takes for its own.
    assert call(capsys, "run", "m.irkit", "--random", "-o", "o.npz")[0] == 0
    with zipfile.ZipFile("o.npz") as archive:
        assert archive.namelist() == ["file.npy"]


def test_a_profile_is_a_table_json_and_a_timeline(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_model()
    files = ("--profile-json", "p.json", "--profile-trace", "p.trace")
    args = ("run", "m.irkit", "--random", "--profile", "--profile-runs", "2", *files)
    code, out, _ = call(capsys, *args)
    assert code == 0
    table = out.partition("ran in")[2].splitlines()[1:]
    assert table[0].split()[-2:] == ["kernel", "operators"]
    assert table[-1].startswith("median of 2 runs")
    kernels = json.loads((folder / "p.json").read_text())["kernels"]
    assert [row["kernel"] for row in kernels] == [line.split()[5] for line in table[1:-2]]
    assert json.loads((folder / "p.trace").read_text())["traceEvents"]


def test_without_the_flag_only_files_are_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_model()
    code, out, _ = call(capsys, "run", "m.irkit", "--random", "--profile-json", "p.json")
    assert code == 0
    assert "GFLOP/s" not in out
    assert (folder / "p.json").stat().st_size
