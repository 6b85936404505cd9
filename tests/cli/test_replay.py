"""``irkit replay``: a failed pass is explained, leaves a folder, and fails again from it."""

from pathlib import Path

import pytest

from irkit.cli import verbs

KERNEL = """\
def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] + f32(1.0)
"""
BAD = "2:tests.debug.bad_passes:"


def irkit(*args: object, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["irkit", *map(str, args)])
    with pytest.raises(SystemExit) as caught:
        verbs.main()
    return int(caught.value.code or 0)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "k.irs"
    file.write_text(KERNEL)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    monkeypatch.chdir(tmp_path)
    return file


def folders(place: Path) -> list[Path]:
    return sorted(place.glob("irkit-crash-*"))


def test_a_failed_pass_is_explained_and_replayed(
    kernel: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert irkit("opt", kernel, "--pass", BAD + "leaves_stray", monkeypatch=monkeypatch) == 2
    err = capfd.readouterr().err
    assert ">    3         C[stray]" in err
    assert "+        C[stray]" in err
    (folder,) = folders(tmp_path)
    assert f"run it again with: irkit replay {folder.name}" in err
    assert irkit("replay", folder.name, monkeypatch=monkeypatch) == 0
    out = capfd.readouterr().out
    assert "it fails the same way" in out
    assert ">    3         C[stray]" in out


def test_a_crash_in_native_code_leaves_the_command_alive(
    kernel: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    args = ("opt", kernel, "--pass", BAD + "segfaults", "--isolate", "--crash-dir", "out")
    assert irkit(*args, monkeypatch=monkeypatch) == 2
    err = capfd.readouterr().err
    assert "pass 'segfaults' on function 'f': crashed its process with SIGSEGV" in err
    assert "in segfaults" in err
    assert folders(tmp_path) == []
    assert len(folders(tmp_path / "out")) == 1


def test_exit_codes_tell_whether_it_fails_the_same_way(
    kernel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    irkit("opt", kernel, "--pass", BAD + "sometimes_raises", monkeypatch=monkeypatch)
    (folder,) = folders(tmp_path)
    assert irkit("replay", folder, monkeypatch=monkeypatch) == 0
    monkeypatch.setenv("IRKIT_TEST_MENDED", "1")
    assert irkit("replay", folder, "--in-process", monkeypatch=monkeypatch) == 1
    monkeypatch.setenv("IRKIT_TEST_MENDED", "2")
    assert irkit("replay", folder, "--in-process", monkeypatch=monkeypatch) == 3
    (folder / "crash.json").write_text("{")
    assert irkit("replay", folder, monkeypatch=monkeypatch) == 2


def test_a_time_limit_works_with_and_without_a_process_of_its_own(
    kernel: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for more in ((), ("--isolate",)):
        args = ("opt", kernel, "--pass", BAD + "loops", "--pass-timeout", "0.3", *more)
        assert irkit(*args, "--no-crash-dir", monkeypatch=monkeypatch) == 2
        err = capfd.readouterr().err
        assert "did not end within 0.3 s" in err
        assert "in loops" in err
    assert folders(tmp_path) == []


def test_a_lowering_in_another_process_prints_the_same(
    kernel: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert irkit("opt", kernel, monkeypatch=monkeypatch) == 0
    here = capfd.readouterr().out
    assert irkit("opt", kernel, "--isolate", monkeypatch=monkeypatch) == 0
    assert capfd.readouterr().out == here
