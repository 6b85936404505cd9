"""The suite's cases that PyTorch exported long ago: whole small models at versions 6 to 9, with
weights."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.backend.test.loader
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.backend.test.case.test_case import TestCase as ShippedCase

import irkit
from irkit.frontend.onnx import CONVERTERS
from tests.draws import part_of


def cases(kind: str) -> list[tuple[ShippedCase, onnx.ModelProto]]:
    found: list[tuple[ShippedCase, onnx.ModelProto]] = []
    for case in onnx.backend.test.loader.load_model_tests(kind=kind):
        model = onnx.load(Path(case.model_dir) / "model.onnx")
        if all(node.op_type in CONVERTERS and not node.domain for node in model.graph.node):
            found.append((case, model))
    return found


def read(path: Path) -> NDArray[Any]:
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


@pytest.mark.parametrize(
    ("kind", "count"), [("simple", 3), ("pytorch-operator", 25), ("pytorch-converted", 70)]
)
def test_every_exported_case_gives_what_it_shipped_with(kind: str, count: int) -> None:
    known = cases(kind)
    assert len(known) >= count
    for case, model in part_of(known, 4):
        weights = {tensor.name for tensor in model.graph.initializer}
        names = [info.name for info in model.graph.input if info.name not in weights]
        folders = sorted(Path(case.model_dir).glob("test_data_set_*"))
        assert folders
        for folder in folders:
            feeds = {name: read(folder / f"input_{at}.pb") for at, name in enumerate(names)}
            got = irkit.compile(model, verify=False).run(feeds)
            for at, info in enumerate(model.graph.output):
                want = read(folder / f"output_{at}.pb")
                assert got[info.name].shape == want.shape, case.name
                assert got[info.name].dtype == want.dtype, case.name
                np.testing.assert_allclose(
                    got[info.name], want, rtol=case.rtol, atol=1e-6, err_msg=case.name
                )
