"""Saved models: loading gives what was saved, and damage is found before code is linked."""

import json
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import irkit
from irkit.codegen import host_target
from irkit.core import FormatError
from irkit.graph import Builder
from irkit.runtime import Model, model as model_module
from irkit.runtime.packages import read_package, target_mismatch
from tests.runtime.models import compiled, mlp, some_input


@pytest.fixture(scope="module")
def model() -> Model:
    return irkit.compile(mlp())


@pytest.fixture(scope="module")
def tiny() -> Model:
    b = Builder()
    return compiled(b.finish(b.op("add", b.param("x", (3,)), b.constant(np.ones(3, np.float32)))))


def bytes_of(model: Model, folder: Path) -> bytes:
    model.save(folder / "whole.irkit")
    return (folder / "whole.irkit").read_bytes()


def rewritten(data: bytes, path: Path, **members: Any) -> Path:
    """Write a package again with other members; None leaves one out."""
    (path.parent / "from.zip").write_bytes(data)
    with zipfile.ZipFile(path.parent / "from.zip") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            key = name.replace(".", "_").replace("/", "_")
            if key not in members:
                new.writestr(name, old.read(name))
            elif members[key] is not None:
                new.writestr(name, members[key])
    return path


def manifest(data: bytes, folder: Path, **changes: Any) -> bytes:
    (folder / "manifest.zip").write_bytes(data)
    with zipfile.ZipFile(folder / "manifest.zip") as archive:
        return json.dumps(json.loads(archive.read("manifest.json")) | changes).encode()


def test_a_loaded_model_gives_the_same_bits(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.irkit")
    loaded = irkit.load(tmp_path / "m.irkit")
    assert loaded.plan == model.plan
    assert loaded.contents == model.contents
    for seed in range(3):
        feeds = {"x": some_input(seed)}
        for name, array in model.run(feeds).items():
            assert array.tobytes() == loaded.run(feeds)[name].tobytes()


def test_a_package_can_be_looked_into_with_ordinary_tools(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.irkit")
    with zipfile.ZipFile(tmp_path / "m.irkit") as archive:
        plan = json.loads(archive.read("graph.json"))
        assert "def main(" in archive.read("graph.txt").decode()
        assert json.loads(archive.read("manifest.json"))["format"] == 2
    assert [spec["name"] for spec in plan["inputs"]] == ["x"]
    assert [spec["shape"] for spec in plan["outputs"]] == [[4, 8], [4, 32]]


def test_the_same_model_is_saved_as_the_same_bytes(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save(tmp_path / "a")
    monkeypatch.setattr("time.time", lambda: 2e9)
    model.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"there is no package '.*nothing.irkit'"):
        irkit.load(tmp_path / "nothing.irkit")


@pytest.mark.parametrize("data", [b"", b"text", b"PK\x05\x06", b"\0" * 1000])
def test_a_file_that_is_not_a_zip_is_rejected(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.irkit").write_bytes(data)
    with pytest.raises(FormatError, match=r"m.irkit' is not a package of irkit"):
        irkit.load(tmp_path / "m.irkit")


def test_a_folder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read: Is a directory"):
        irkit.load(tmp_path)


def test_another_zip_file_is_rejected(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        archive.writestr("../evil.txt", "text")
    with pytest.raises(FormatError, match="a zip file, but not a package"):
        irkit.load(tmp_path / "m.zip")
    assert not (tmp_path.parent / "evil.txt").exists()


def is_rejected(path: Path, whole: Model) -> bool:
    """Load a package without linking it; return True if it was rejected as damaged."""
    try:
        found = read_package(path)
    except FormatError:
        return True
    # Time stamps and the like are not checked; everything else must be unchanged.
    assert found == whole.contents
    return False


def test_a_flipped_byte_is_found_or_harmless(tiny: Model, tmp_path: Path) -> None:
    whole = bytes_of(tiny, tmp_path)
    path = tmp_path / "m.irkit"
    rng = random.Random(1)
    refused = 0
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 1, 1, 2, 8])):
            data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        path.write_bytes(data)
        refused += is_rejected(path, tiny)
    assert refused > 300  # A third of the file is room before the weights.


def test_a_flipped_byte_in_the_directory_of_the_zip_is_found_or_harmless(
    tiny: Model, tmp_path: Path
) -> None:
    whole = bytes_of(tiny, tmp_path)
    path = tmp_path / "m.irkit"
    rng = random.Random(2)
    for at in range(whole.index(b"PK\x01\x02"), len(whole)):
        data = bytearray(whole)
        data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
        path.write_bytes(data)
        is_rejected(path, tiny)


@pytest.mark.parametrize("member", ["manifest.json", "graph.json", "params.bin", "objects/0.o"])
def test_damage_to_any_member_is_found_before_anything_is_linked(
    member: str, tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*args: object) -> None:
        raise AssertionError("linked")

    whole = bytes_of(tiny, tmp_path)
    monkeypatch.setattr(model_module, "link", link)
    with zipfile.ZipFile(tmp_path / "whole.irkit") as archive:
        content = archive.read(member)
    begin = whole.index(content)
    for at in (0, len(content) // 2, len(content) - 1):
        data = bytearray(whole)
        data[begin + at] ^= 1
        (tmp_path / "m.irkit").write_bytes(data)
        with pytest.raises(FormatError):
            irkit.load(tmp_path / "m.irkit")


def test_a_changed_member_is_found_by_its_digest(tiny: Model, tmp_path: Path) -> None:
    whole = bytes_of(tiny, tmp_path)
    path = rewritten(whole, tmp_path / "m.irkit", params_bin=b"\0" * 64)
    with pytest.raises(FormatError, match=r"params.bin has a different checksum"):
        irkit.load(path)
    path = rewritten(whole, tmp_path / "m.irkit", graph_txt=None)
    with pytest.raises(FormatError, match=r"graph.txt"):
        irkit.load(path)


def test_a_truncated_file_is_rejected(tiny: Model, tmp_path: Path) -> None:
    whole = bytes_of(tiny, tmp_path)
    path = tmp_path / "m.irkit"
    for length in [*range(0, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError):
            irkit.load(path)


@pytest.mark.parametrize("number", [0, 3, "1", None])
def test_another_format_is_rejected_by_its_number(
    number: object, tiny: Model, tmp_path: Path
) -> None:
    whole = bytes_of(tiny, tmp_path)
    other = manifest(whole, tmp_path, format=number)
    with pytest.raises(FormatError, match=f"has format {number!r}; this irkit reads 1 and 2"):
        irkit.load(rewritten(whole, tmp_path / "m.irkit", manifest_json=other))


@pytest.mark.parametrize(
    "changes",
    [
        {"members": 3},
        {"members": {}},
        {"members": {"../../etc/passwd": "0"}},
        {"members": {"/etc/passwd": "0"}},
        {"models": []},
        {"models": None},
        {"models": [{"target": {"kind": "llvm"}, "plan": "graph.json"}]},
    ],
)
def test_an_invalid_manifest_is_rejected(
    changes: dict[str, Any], tiny: Model, tmp_path: Path
) -> None:
    whole = bytes_of(tiny, tmp_path)
    other = manifest(whole, tmp_path, **changes)
    with pytest.raises(FormatError):
        irkit.load(rewritten(whole, tmp_path / "m.irkit", manifest_json=other))


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"\xff", b"null", b""])
def test_a_manifest_that_is_not_a_json_object_is_rejected(
    text: bytes, tiny: Model, tmp_path: Path
) -> None:
    path = rewritten(bytes_of(tiny, tmp_path), tmp_path / "m.irkit", manifest_json=text)
    with pytest.raises(FormatError):
        irkit.load(path)


def for_target(whole: bytes, path: Path, **changes: Any) -> Path:
    """Write a package again for another target."""
    (path.parent / "first.zip").write_bytes(whole)
    with zipfile.ZipFile(path.parent / "first.zip") as archive:
        (only,) = json.loads(archive.read("manifest.json"))["models"]
    only["target"] |= changes
    other = manifest(whole, path.parent, models=[only])
    return rewritten(whole, path, manifest_json=other)


def test_another_kind_of_machine_is_named(tiny: Model, tmp_path: Path) -> None:
    triple = "riscv64-unknown-linux-gnu"
    path = for_target(bytes_of(tiny, tmp_path), tmp_path / "m.irkit", triple=triple)
    with pytest.raises(FormatError, match="made for riscv64-unknown-linux-gnu, found"):
        irkit.load(path)


def test_a_feature_that_is_missing_here_is_named(tiny: Model, tmp_path: Path) -> None:
    features = [*host_target().features, "+avx9000", "+sse99"]
    path = for_target(bytes_of(tiny, tmp_path), tmp_path / "m.irkit", features=features)
    with pytest.raises(FormatError, match="features that this machine lacks: avx9000, sse99"):
        irkit.load(path)


@pytest.mark.parametrize("changes", [{"kind": "nonsense"}, {"features": ["avx"]}])
def test_an_invalid_target_is_rejected(
    changes: dict[str, Any], tiny: Model, tmp_path: Path
) -> None:
    with pytest.raises(FormatError):
        irkit.load(for_target(bytes_of(tiny, tmp_path), tmp_path / "m.irkit", **changes))


def test_features_that_code_never_uses_may_be_missing() -> None:
    features = (*host_target().features, "+sgx", "+pku", "+amx-tile")
    target = msgspec.structs.replace(host_target(), features=features)
    problem = target_mismatch(target)
    assert not problem or problem.endswith("machine lacks: amx-tile")


def test_compressed_members_and_wrong_sizes_are_rejected(tiny: Model, tmp_path: Path) -> None:
    whole = bytes_of(tiny, tmp_path)
    path = rewritten(whole, tmp_path / "m.irkit")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\0" * 50_000_000)
    assert path.stat().st_size < 200_000
    with pytest.raises(FormatError, match="it is compressed"):
        irkit.load(path)
    data = bytearray(whole)
    begin = whole.index(b"PK\x01\x02")
    data[begin + 20 : begin + 28] = b"\xf0\xff\xff\xff" * 2  # both sizes of the first member
    path.write_bytes(data)
    with pytest.raises(FormatError, match="cannot hold what it lists"):
        irkit.load(path)


def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(
    tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.irkit"
    tiny.save(path)
    old = path.read_bytes()
    calls: list[int] = []
    original = zipfile.ZipFile.writestr

    def interrupted(self: zipfile.ZipFile, *args: Any, **kwargs: Any) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        original(self, *args, **kwargs)

    monkeypatch.setattr(zipfile.ZipFile, "writestr", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tiny.save(path)
    assert path.read_bytes() == old
    assert [each.name for each in tmp_path.iterdir()] == ["m.irkit"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tiny: Model, tmp_path: Path) -> None:
    path = tmp_path / "m.irkit"
    path.write_text("old")
    tiny.save(tmp_path / "source.irkit")
    code = (
        "import irkit, resource, signal, sys\n"
        "model = irkit.load(sys.argv[1])\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    model.save(sys.argv[2])\nexcept OSError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "source.irkit"), str(path)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(irkit.__file__).parent.parent)},
        check=True,
    )
    assert "File too large" in done.stdout
    assert path.read_text() == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m.irkit", "source.irkit"]


def test_a_path_that_cannot_be_written_is_named_as_given(tiny: Model, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none/m.irkit'$"):
        tiny.save(tmp_path / "none" / "m.irkit")
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        tiny.save(tmp_path)


def test_a_link_stays_a_link_and_a_device_stays_a_device(tiny: Model, tmp_path: Path) -> None:
    (tmp_path / "real.irkit").write_text("old")
    (tmp_path / "link.irkit").symlink_to("real.irkit")
    tiny.save(tmp_path / "link.irkit")
    assert (tmp_path / "link.irkit").is_symlink()
    assert irkit.load(tmp_path / "real.irkit").plan == tiny.plan
    tiny.save(os.devnull)
    assert not Path(os.devnull).is_file()


def test_a_saved_file_has_the_mode_of_any_new_file(tiny: Model, tmp_path: Path) -> None:
    tiny.save(tmp_path / "m.irkit")
    (tmp_path / "other").touch()
    assert (tmp_path / "m.irkit").stat().st_mode == (tmp_path / "other").stat().st_mode
