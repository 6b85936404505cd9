"""Object files are cached by content; damaged and foreign ones are not used."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irkit.core import IRKitError, Target
from irkit.ir import F32, Buffer, Const, PrimFunc, Store, index
from irkit.runtime import cache, compile_functions
from irkit.runtime.cache import cache_folder, object_for

C = Buffer("C", (index(1),), F32)
LEVEL = Target(opt_level=1)


def setter(value: float) -> PrimFunc:
    return PrimFunc("set", (C,), Store(C, (index(0),), Const(value, F32)))


def run(value: float, target: Target = LEVEL) -> float:
    got = np.zeros(1, "f4")
    compile_functions({"set": setter(value)}, target)(got)
    return float(got[0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IRKIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("IRKIT_CACHE", "1")
    return tmp_path / "cache"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []
    inner = cache.compile_object

    def counted(text: str, target: Target, *, unroll: bool = True) -> bytes:
        texts.append(text)
        return inner(text, target, unroll=unroll)

    monkeypatch.setattr(cache, "compile_object", counted)
    return texts


def test_the_same_kernel_is_compiled_once(folder: Path, compiled: list[str]) -> None:
    assert [run(1.0), run(1.0), run(1.0)] == [1, 1, 1]
    assert len(compiled) == 2  # The kernel, and its stub.
    assert len(list(folder.iterdir())) == 2
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in folder.iterdir())


def test_other_code_or_options_give_another_file(folder: Path, compiled: list[str]) -> None:
    assert run(1.0) == 1
    assert run(2.0) == 2
    assert len(compiled) == 3
    run(1.0, Target(opt_level=2))
    run(1.0, Target(opt_level=2, features=("-avx2",)))
    assert len(compiled) == 6  # One kernel more, then a kernel and a stub.


@pytest.mark.parametrize("damage", [b"", b"irkit object 1\n", None, b"\0" * 999])
def test_a_damaged_file_is_made_again(
    folder: Path, compiled: list[str], damage: bytes | None
) -> None:
    run(3.0)
    for file in folder.iterdir():
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.write_bytes(bytes(data) if damage is None else damage)
    assert [run(3.0), run(3.0)] == [3, 3]
    assert len(compiled) == 4


def test_the_cache_can_be_switched_off(
    folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRKIT_CACHE", "0")
    run(1.0)
    run(1.0)
    assert len(compiled) == 4
    assert not folder.exists()


def test_a_folder_that_others_may_write_to_is_not_used(folder: Path, compiled: list[str]) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    assert [run(1.0), run(1.0)] == [1, 1]
    assert len(compiled) == 4
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_be_made_is_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("IRKIT_CACHE", "1")
    monkeypatch.setenv("IRKIT_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert cache_folder() is None
    assert run(4.0) == 4


def test_a_full_disk_is_not_an_error(
    folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert run(5.0) == 5
    assert not list(folder.iterdir())


def test_the_folder_follows_the_conventions_of_the_desktop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IRKIT_CACHE_DIR", raising=False)
    monkeypatch.setenv("IRKIT_CACHE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "irkit"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "irkit"


def test_an_object_from_the_cache_equals_the_compiled_one(folder: Path) -> None:
    text = "define i32 @f() {\n  ret i32 7\n}\n"
    assert object_for(text, LEVEL) == object_for(text, LEVEL)


def test_the_files_used_least_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRKIT_CACHE_BYTES", "40000")
    for at in range(8):
        cache.write_cached(f"{at}.kernel", bytes(10_000))
        os.utime(folder / f"{at}.kernel", (at, at)) if (folder / f"{at}.kernel").exists() else None
    left = sorted(path.name for path in folder.glob("*.kernel"))
    assert sum(path.stat().st_size for path in folder.glob("*.kernel")) <= 50_000
    assert left
    assert left[-1] == "7.kernel"
    assert "0.kernel" not in left
    (folder / "other.txt").write_bytes(bytes(10_000))
    cache.write_cached("8.kernel", bytes(30_000))
    assert (folder / "other.txt").exists()  # It is not ours.
    monkeypatch.setenv("IRKIT_CACHE_BYTES", "much")
    with pytest.raises(IRKitError, match="IRKIT_CACHE_BYTES is 'much'"):
        cache.most_cached_bytes()
