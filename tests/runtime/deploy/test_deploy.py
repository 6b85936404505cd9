"""Models as C: libraries by their interface, sources that build, and what the border refuses."""

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, IRModule
from irkit.graph import arrays_of, interpret, parse
from irkit.runtime import Model, build_library, write_sources
from tests.codegen.c.build import COMPILERS, needs_compiler
from tests.runtime import models
from tests.runtime.deploy.dlpack import VERSION, CModel, Options, tensor

pytestmark = needs_compiler
STRICT = ["-std=c11", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]


@pytest.fixture(scope="module")
def model() -> Model:
    return irkit.compile(models.mlp(), target="c")


@pytest.fixture(scope="module")
def library(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "libmlp.so"
    build_library(model, path, "shared", name="mlp", header=path.with_name("mlp.h"))
    return path


@pytest.fixture
def loaded(library: Path) -> Iterator[CModel]:
    made = CModel(library, "mlp")
    assert made.code == 0
    yield made
    made.close()


def test_a_library_gives_what_the_model_gives_in_python(loaded: CModel) -> None:
    assert loaded.described("input") == [("x", (4, 16))]
    assert loaded.described("output") == [("p", (4, 8)), ("hidden", (4, 32))]
    native = irkit.compile(models.mlp())
    for seed in range(3):
        x = models.some_input(seed)
        got, want = loaded.run({"x": x}), native.run({"x": x})
        for name, array in want.items():
            np.testing.assert_allclose(got[name], array, rtol=1e-5, atol=1e-6)


def test_the_model_itself_only_gives_sources(model: Model, tmp_path: Path) -> None:
    with pytest.raises(IRKitError, match="it is C source"):
        model.run({"x": models.some_input()})
    with pytest.raises(IRKitError, match="this model is C source"):
        model.save(tmp_path / "model.irkit")
    with pytest.raises(IRKitError, match="prefix"):
        write_sources(model, tmp_path, name="a-b")
    irkit.compile(models.mlp()).save(tmp_path / "model.irkit")
    with pytest.raises(IRKitError, match="compiled here"):
        write_sources(irkit.load(tmp_path / "model.irkit"), tmp_path)


def test_strides_and_offsets_are_honoured(loaded: CModel) -> None:
    x = models.some_input()
    want = loaded.run({"x": x})["p"]
    outputs = [np.zeros((4, 8), "f4"), np.zeros((4, 32), "f4")]
    room = np.zeros(4 * 16 + 7, "f4")
    room[7:] = x.reshape(-1)
    given = tensor(room[7:].reshape(4, 16), strides=True, offset=28)
    assert loaded.run_tensors([given], [tensor(each, strides=True) for each in outputs]) == 0
    np.testing.assert_array_equal(outputs[0], want)


def test_the_border_refuses_what_is_not_as_declared(loaded: CModel) -> None:
    x = models.some_input()
    outputs = [np.zeros((4, 8), "f4"), np.zeros((4, 32), "f4")]
    out = [tensor(each) for each in outputs]

    def refused(given: object, made: object = None) -> str:
        assert loaded.run_tensors([given], made or out) == 1  # pyright: ignore
        return loaded.error

    assert "has type code 2 with 64 bits" in refused(tensor(x.astype("f8")))
    assert "has type code 0 with 32 bits" in refused(tensor(x.astype("i4")))
    assert "has extent 5 on axis 0; expected 4" in refused(tensor(np.zeros((5, 16), "f4")))
    assert "has 1 dimensions; expected 2" in refused(tensor(x.reshape(-1)))
    assert "not contiguous" in refused(tensor(np.zeros((16, 4), "f4").T, strides=True))
    assert "not contiguous" in refused(tensor(np.zeros((4, 32), "f4")[:, ::2], strides=True))
    elsewhere = tensor(x)
    elsewhere.device.type = 2
    assert "device type 2" in refused(elsewhere)
    bytes_ = np.zeros(4 * 16 * 4 + 1, "u1")
    assert "not aligned" in refused(tensor(bytes_[1:].view("f4").reshape(4, 16)))
    nowhere = tensor(x)
    nowhere.data = None
    assert "has no data" in refused(nowhere)
    for data, offset in ((2**64 - 64, 0), (2**64 - 64, 128), (x.ctypes.data, 2**64 - 4)):
        beyond = tensor(x)
        beyond.data, beyond.byte_offset = data, offset
        assert "ends beyond the last address" in refused(beyond)
    whole = np.zeros(4 * 32, "f4")
    both = [tensor(whole[:32].reshape(4, 8)), tensor(whole.reshape(4, 32))]
    assert "hidden shares memory" in refused(tensor(x), both)
    assert not any(each.any() for each in outputs)


def test_options_are_checked_when_a_model_is_made(
    library: Path, tmp_path: Path, model: Model
) -> None:
    size = ctypes.sizeof(Options)
    assert "struct_size" in CModel(library, "mlp", Options(size - 1, VERSION)).error
    assert "version 1; expected 4" in CModel(library, "mlp", Options(size, 1)).error
    missing = CModel(library, "mlp", Options(size, VERSION, None, 0, b"/nowhere/weights"))
    assert missing.code == 3
    assert "cannot be opened" in missing.error
    file = tmp_path / "weights.bin"
    file.write_bytes(bytes(model.contents.params)[:-1])
    short = CModel(library, "mlp", Options(size, VERSION, None, 0, str(file).encode()))
    assert "is not the file of weights" in short.error
    file.write_bytes(bytes(model.contents.params))
    right = CModel(library, "mlp", Options(size, VERSION, None, 0, str(file).encode()))
    assert right.code == 0
    x = models.some_input()
    inside = CModel(library, "mlp")
    np.testing.assert_array_equal(right.run({"x": x})["p"], inside.run({"x": x})["p"])
    for each in (right, inside):
        each.close()


def test_a_library_exports_its_interface_only(library: Path) -> None:
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    assert {name for name in names if not name.startswith("mlp_")} == set()
    assert "mlp_run" in names
    assert "mlp_weights" not in names


def test_sources_build_without_a_warning_and_run(model: Model, tmp_path: Path) -> None:
    write_sources(model, tmp_path, name="mlp")
    checks = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover"]
    sources = ["mlp.c", "mlp_weights.c", "main.c"]
    command = [COMPILERS[0], *STRICT, "-O1", *checks, *sources, "-o", "example", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    done = subprocess.run(["./example"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    i = np.arange(64)
    x = ((i * 37 % 101) / np.float32(101)).astype("f4").reshape(4, 16)
    printed = done.stdout.splitlines()[0].split()
    assert printed[0] == "p:"
    np.testing.assert_allclose([float(word) for word in printed[1:]], models.expected(x)[0], 1e-4)


def test_two_models_fit_into_one_program(model: Model, tmp_path: Path) -> None:
    for name in ("one", "two"):
        build_library(
            model, tmp_path / f"{name}.o", "object", name=name, header=tmp_path / f"{name}.h"
        )
    (tmp_path / "main.c").write_text(
        '#include "one.h"\n#include "two.h"\nint main(void) { one *a; two *b;\n'
        "if (one_create(&a, 0) || two_create(&b, 0)) return 1;\n"
        "one_destroy(a); two_destroy(b); return 0; }\n"
    )
    command = [COMPILERS[0], *STRICT, "main.c", "one.o", "two.o", "-o", "both", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    subprocess.run([tmp_path / "both"], check=True, timeout=60)


def test_without_a_compiler_the_error_names_it(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-cc")
    with pytest.raises(IRKitError, match="'no-such-cc' was not found"):
        build_library(model, tmp_path / "x.so", "shared")


def test_choices_and_loops_of_a_library(tmp_path: Path) -> None:
    step = parse(
        "def step(i: i64[()], a: f32[4]):\n"
        "    s: f32[4] = add(a, a)\n"
        "    t: f32[()] = sum(s, axes=(0,), keepdims=False)\n"
        "    l: f32[()] = constant([100.0])\n"
        "    g: bool[()] = less(t, l)\n"
        "    r: (bool[()], f32[4], f32[4]) = (g, s, a)\n"
        "    return r\n"
    )
    main = parse(
        "def main(x: f32[4], n: i64[()], c: bool[()]):\n"
        "    if c:\n"
        "        e: f32[4] = negative(x)\n"
        "        y: f32[4] = e\n"
        "    else:\n"
        "        y: f32[4] = x\n"
        '    z: (i64[()], f32[4], f32[5, 4]) = loop("step", n, c, (y,), ())\n'
        "    t: f32[4] = z[1]\n"
        "    u: f32[5, 4] = z[2]\n"
        "    r: (f32[4], f32[5, 4]) = (t, u)\n"
        "    return r\n"
    )
    module, path = IRModule({"main": main, "step": step}), tmp_path / "libflow.so"
    build_library(irkit.compile(module, target="c"), path, "shared", name="flow")
    loaded = CModel(path, "flow")
    x = np.array([1, 2, -5, 3], "f4")
    try:
        for n in (0, 2, 9):
            for c in (False, True):
                inputs = {"x": x, "n": np.array(n), "c": np.array(c)}
                found = loaded.run(inputs).values()
                for one, other in zip(found, arrays_of(interpret(module, inputs)), strict=True):
                    np.testing.assert_array_equal(one, other)
    finally:
        loaded.close()
