"""Packages for several targets, old packages, mapped weights, and the check of all of them."""

import gc
import hashlib
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import psutil
import pytest

import irkit
from irkit.codegen import host_target
from irkit.core import FormatError, IRKitError
from irkit.graph import Builder
from irkit.runtime import Model, verify_package
from irkit.runtime.packages import PackageContents, package_reader, write_package
from tests.runtime.models import compiled


def adding(number: float, size: int = 3) -> Model:
    b = Builder()
    weights = np.full(size, number, np.float32)
    return compiled(b.finish(b.op("add", b.param("x", (size,)), b.constant(weights))))


def of_features(model: Model, *features: str) -> Model:
    """Return a model that says that it needs these features."""
    target = msgspec.structs.replace(model.target, features=features)
    return Model(msgspec.structs.replace(model.contents, target=target))


def first_of(model: Model) -> Any:
    return model.run({"x": np.zeros(3, np.float32)})[model.plan.outputs[0].name][0]


def test_loading_takes_the_model_that_needs_most_of_what_the_machine_has(tmp_path: Path) -> None:
    own = [each for each in host_target().features if each.startswith("+")]
    small, middle = of_features(adding(1), *own[:1]), of_features(adding(2), *own[:2])
    foreign = of_features(adding(3), *own[:3], "+avx9000")
    small.save(tmp_path / "m.irkit", also=[foreign, middle])
    loaded = irkit.load(tmp_path / "m.irkit")
    assert first_of(loaded) == 2
    assert len(loaded.contents.others) == 2
    loaded.save(tmp_path / "again.irkit")  # Nothing is lost.
    assert (tmp_path / "again.irkit").read_bytes() == (tmp_path / "m.irkit").read_bytes()


def test_a_package_without_a_model_for_this_machine_says_what_each_lacks(tmp_path: Path) -> None:
    one, two = of_features(adding(1), "+avx9000"), of_features(adding(1), "+avx9000", "+sse99")
    one.save(tmp_path / "m.irkit", also=[two])
    with pytest.raises(FormatError, match="no model in package") as caught:
        irkit.load(tmp_path / "m.irkit")
    lacks = [line for line in str(caught.value).splitlines() if "this machine lacks" in line]
    assert ["sse99" in line for line in lacks] == [True, False]


def test_what_is_equal_is_stored_once(tmp_path: Path) -> None:
    model = adding(1, 5000)
    model.save(tmp_path / "one.irkit")
    model.save(tmp_path / "two.irkit", also=[of_features(model, "+avx9000")])
    sizes = [(tmp_path / name).stat().st_size for name in ("one.irkit", "two.irkit")]
    assert sizes[1] - sizes[0] < 3000 < 20_000 < sizes[0]


def test_models_that_differ_share_no_package(tmp_path: Path) -> None:
    model = adding(1)
    with pytest.raises(IRKitError, match="has other inputs than"):
        model.save(tmp_path / "m.irkit", also=[of_features(adding(1, 4), "+avx9000")])
    with pytest.raises(IRKitError, match="one model for each target, found two"):
        model.save(tmp_path / "m.irkit", also=[adding(2)])
    assert not [*tmp_path.iterdir()]


def as_first_format(path: Path, model: Model) -> None:
    """Write a package as irkit wrote it before formats had numbers above 1."""
    contents = model.contents
    members = {
        "graph.json": msgspec.json.encode(contents.plan),
        "graph.txt": contents.graph.encode(),
        "params.bin": bytes(contents.params),
        **{f"objects/{number}.o": data for number, data in enumerate(contents.objects)},
    }
    manifest = {
        "format": 1,
        "irkit": "0.1",
        "llvmlite": "0.44",
        "target": msgspec.to_builtins(contents.target),
        "members": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, data in members.items():
            archive.writestr(name, data)


def test_a_package_of_the_first_format_is_read(tmp_path: Path) -> None:
    model = adding(4)
    as_first_format(tmp_path / "old.irkit", model)
    loaded = irkit.load(tmp_path / "old.irkit")
    assert loaded.contents == model.contents
    assert first_of(loaded) == 4
    (report,) = verify_package(tmp_path / "old.irkit")
    assert report.format == 1
    data = bytearray((tmp_path / "old.irkit").read_bytes())
    data[data.index(model.contents.objects[0]) + 70] ^= 1
    (tmp_path / "old.irkit").write_bytes(data)
    with pytest.raises(FormatError, match="different checksum"):
        irkit.load(tmp_path / "old.irkit")


def with_weights(model: Model, size: int) -> PackageContents:
    """Return contents with more parameters than the model reads."""
    rest = np.zeros(size, np.uint8)
    whole = np.concatenate([np.frombuffer(model.contents.params, np.uint8), rest])
    plan = msgspec.structs.replace(model.plan, param_bytes=len(whole))
    return msgspec.structs.replace(model.contents, plan=plan, params=memoryview(whole))


def test_large_weights_are_mapped_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.irkit"
    write_package(path, with_weights(adding(5), 64 << 20))
    irkit.load(path)  # What is imported and made once.
    process = psutil.Process()
    gc.collect()
    before, started = process.memory_info().rss, time.process_time()
    model = irkit.load(path)
    assert process.memory_info().rss - before < 10 << 20
    assert time.process_time() - started < 0.05
    assert first_of(model) == 5
    (report,) = verify_package(path)
    assert report.is_mapped


def test_damage_to_large_weights_is_found_by_verification(tmp_path: Path) -> None:
    path = tmp_path / "large.irkit"
    write_package(path, with_weights(adding(5), package_reader.VERIFIED_PARAMS + 1))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    irkit.load(path)
    with pytest.raises(FormatError, match=r"params.bin has a different checksum"):
        verify_package(path)


def test_parameters_of_another_size_than_the_plan_reads_are_refused(tmp_path: Path) -> None:
    contents = with_weights(adding(5), 64)
    cut = msgspec.structs.replace(contents, params=contents.params[:-64])
    write_package(tmp_path / "m.irkit", cut)
    with pytest.raises(FormatError, match=r"params.bin has \d+ bytes, expected \d+"):
        irkit.load(tmp_path / "m.irkit")
