"""``irkit run``: inputs and outputs; ``irkit verify``, and packages for several targets."""

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

COMPILE = ("compile", "model.onnx", "-o", "m.irkit", "--shape", "data_0=2,8")


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


def test_a_package_for_several_processors_runs_here_and_lists_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = ("--target", "raspberry-pi-4", "--target", "host")
    code, out, _ = call(capsys, *COMPILE, *targets)
    assert code == 0
    assert "  and for " in out
    code, out, _ = call(capsys, "verify", "m.irkit", "--json")
    assert code == 0
    (report,) = json.loads(out)
    found = {each["target"]["triple"]: each["mismatch"] for each in report["models"]}
    assert [*found.values()].count("") == 1
    assert "it was made for aarch64-linux-gnu" in found["aarch64-linux-gnu"]
    assert call(capsys, "run", "m.irkit", "--random")[0] == 0
    assert len(irkit.load("m.irkit").contents.others) == 1


def test_damage_is_an_error_with_its_exit_code(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, *COMPILE)[0] == 0
    assert "nothing is damaged" in call(capsys, "verify", "m.irkit")[1]
    data = bytearray((folder / "m.irkit").read_bytes())
    data[data.index(b"\x7fELF") + 99] ^= 1
    (folder / "m.irkit").write_bytes(data)
    code, _, err = call(capsys, "verify", "m.irkit")
    assert code == 2
    assert "different checksum" in err


def test_several_targets_are_for_packages_only(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = ("--target", "x86-64-v2", "--target", "x86-64-v4")
    code, _, err = call(capsys, "compile", "model.onnx", "-o", "m.so", "--output-kind=shared", *two)
    assert code == 2
    assert "several targets make one package" in err
