"""Export the networks: ``python -m tests.networks.export OUT [NAME...]``.

Writes OUT/NAME.EXPORTER.onnx and OUT/NAME.EXPORTER.npz for each, with the inputs (``in:NAME``) and
what ONNX Runtime gives (``out:NAME``). An exporter that fails leaves the reason in a .txt file.
``--blocks`` writes the small blocks that the tests read. Needs the extra ``networks``.
"""

import sys
import tempfile
import traceback
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import click
import numpy as np
import onnx
import onnxruntime
import torch

from tests.networks import detection, quantized, sequence, transformers, vision
from tests.networks.blocks import BLOCKS
from tests.networks.network import Network

NETWORKS: tuple[Network, ...] = (
    *vision.NETWORKS,
    *detection.NETWORKS,
    *transformers.NETWORKS,
    *sequence.NETWORKS,
    *quantized.NETWORKS,
)


def export(network: Network, exporter: str, folder: Path) -> None:
    """Write one network, its inputs and the outputs expected of it."""
    path = folder / f"{network.name}.{exporter}.onnx"
    module, inputs = network.make()
    inputs = _in_type(inputs, network.dtype)
    write_model(module.to(network.dtype), inputs, path, exporter, network.opset)
    feeds = dict(zip(_inputs(path), map(_array, inputs), strict=True))
    if network.quantize is not None:
        with tempfile.TemporaryDirectory() as scratch:
            plain = Path(scratch) / "plain.onnx"
            onnx.save(onnx.load(path), plain)
            path.with_name(f"{path.name}.data").unlink(missing_ok=True)
            quantised = Path(scratch) / "quantised.onnx"
            network.quantize(str(plain), str(quantised), feeds)
            onnx.save(onnx.load(quantised), path)
    if network.dtype is torch.bfloat16:
        # ONNX Runtime has few kernels for it: expect what f32 gives for the same weights.
        with tempfile.TemporaryDirectory() as scratch:
            wide = Path(scratch) / "wide.onnx"
            write_model(module.float(), _in_type(inputs, torch.float32), wide, exporter)
            given = dict(zip(_inputs(wide), map(_bits, feeds.values()), strict=True))
            names = [info.name for info in _shell(path).output]
            outputs = dict(zip(names, _outputs(wide, given).values(), strict=True))
    else:
        outputs = _outputs(path, feeds)
    arrays = {f"in:{name}": _bits(a) for name, a in feeds.items()}
    np.savez(path.with_suffix(".npz"), **arrays, **{f"out:{n}": a for n, a in outputs.items()})


def write_model(
    module: torch.nn.Module,
    inputs: tuple[torch.Tensor, ...],
    path: Path,
    exporter: str,
    opset: int | None = None,
) -> None:
    """Export a module with the settings that a user gets who gives none but the opset."""
    torch.backends.mha.set_fastpath_enabled(False)  # TorchScript's exporter does not know it.
    with warnings.catch_warnings(), redirect_stdout(StringIO()), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module, inputs, str(path),
            dynamo=exporter == "dynamo", opset_version=opset, verbose=False,
        )  # fmt: skip


def _in_type(inputs: Sequence[torch.Tensor], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    return tuple(each.to(dtype) if each.is_floating_point() else each for each in inputs)


def _array(tensor: torch.Tensor) -> Any:
    if tensor.dtype is torch.bfloat16:
        wide = tensor.float().numpy()
        return wide.astype(onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.BFLOAT16))
    return tensor.numpy()


def _bits(array: Any) -> Any:
    """Return an array as a file can hold it: bf16 as f32, which has all its values."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _shell(path: Path) -> onnx.GraphProto:
    return onnx.load(path, load_external_data=False).graph


def _inputs(path: Path) -> list[str]:
    return [info.name for info in _shell(path).input]


def _outputs(path: Path, feeds: dict[str, Any]) -> dict[str, Any]:
    options = onnxruntime.SessionOptions()
    # Further levels fuse quantised operators, and round elsewhere than the graph says.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def write_blocks(folder: Path) -> None:
    """Write the small blocks as ONNX text, in which weights are inputs that the metadata list."""
    folder.mkdir(exist_ok=True)
    for network in BLOCKS:
        (exporter,) = network.exporters
        module, inputs = network.make()
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "block.onnx"
            write_model(module, inputs, path, exporter, network.opset)
            text = onnx.printer.to_text(without_weights(onnx.load(path)))
        lines = "\n".join(line.rstrip() for line in text.splitlines())
        opset = f"{network.opset}" if network.opset else ""
        (folder / f"{network.name}.{exporter}{opset}.onnxtxt").write_text(lines + "\n")


def without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model whose large float constants are inputs, without what only tools read."""
    graph = model.graph
    large = [
        tensor
        for tensor in graph.initializer
        if tensor.data_type == onnx.TensorProto.FLOAT and np.prod(tensor.dims) > 8
    ]
    for tensor in large:
        graph.initializer.remove(tensor)
        graph.input.append(
            onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        )
    del model.metadata_props[:], graph.metadata_props[:], graph.value_info[:]
    for part in (*graph.node, *graph.input, *graph.output, *graph.initializer):
        part.doc_string = ""
        del part.metadata_props[:]
    onnx.helper.set_model_props(model, {"weights": " ".join(tensor.name for tensor in large)})
    return model


def main(arguments: Sequence[str]) -> int:
    """Export all networks, or those named; return the number of failures."""
    if arguments[0] == "--blocks":
        write_blocks(Path(__file__).parent / "block_texts")
        return 0
    folder, wanted = Path(arguments[0]), set(arguments[1:])
    folder.mkdir(parents=True, exist_ok=True)
    failures = 0
    for network in NETWORKS:
        for exporter in network.exporters:
            title = f"{network.name}.{exporter}"
            if wanted and not wanted & {network.name, title}:
                continue
            reason = folder / f"{title}.txt"
            reason.unlink(missing_ok=True)
            try:
                export(network, exporter, folder)
            except Exception:
                failures += 1
                reason.write_text(traceback.format_exc())
                click.echo(f"{title}: failed, see {reason}")
            else:
                click.echo(f"{title}: exported")
    return failures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
