"""Write the programs that the tests import, with inputs and what PyTorch computed of them::

    python -m tests.frontend.torch.make_programs [NAME ...]

It needs PyTorch (the extra ``torch``); the tests that read the files do not.
"""

import copy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from msgspec.structs import replace

from irkit.frontend.torch import TorchProgram, array_of, capture, save_program
from tests.frontend.torch.torch_decoders import DECODERS, decoded, exported_decoder
from tests.frontend.torch.torch_models import MODELS, exported

FOLDER = Path(__file__).parent / "programs"


def flat(results: Any) -> list[Any]:
    """List the tensors of a result."""
    return (
        [each for item in results for each in flat(item)]
        if isinstance(results, (tuple, list))
        else [results]
    )


def stored(tensor: Any) -> np.ndarray[Any, Any]:
    """Return an array that NumPy can store; bf16 as f32."""
    wide = tensor.float() if tensor.dtype == torch.bfloat16 else tensor
    return array_of(wide)


def with_short_paths(program: TorchProgram) -> TorchProgram:
    """Name files from the top of the repository on, in the graphs inside, too."""
    return shortened(program, f"{Path(__file__).parents[3]}/")


def shortened(graph: Any, top: str) -> Any:
    nodes = (replace(node, file=node.file.removeprefix(top)) for node in graph.nodes)
    inside = {name: shortened(each, top) for name, each in graph.graphs.items()}
    return replace(graph, nodes=tuple(nodes), graphs=inside)


def write_decoder(name: str) -> None:
    """Write a decoder, with the tokens it was given and what it returned for each."""
    exported = exported_decoder(name)
    save_program(with_short_paths(capture(exported)), FOLDER / "decoders" / f"{name}.json")
    tokens, logits = decoded(name)
    np.savez_compressed(FOLDER / "decoders" / f"{name}.npz", tokens=tokens, logits=logits)


def main() -> None:
    for name in sys.argv[1:] or (*MODELS, *DECODERS):
        if name in DECODERS:
            write_decoder(name)
            sys.stdout.write(f"{name}\n")
            continue
        program, model, inputs = exported(name)
        save_program(with_short_paths(capture(program)), FOLDER / f"{name}.json")
        with torch.no_grad():
            results = flat(copy.deepcopy(model)(*inputs))
        arrays = {f"in_{at}": stored(each) for at, each in enumerate(inputs)}
        arrays |= {f"out_{at}": stored(each) for at, each in enumerate(results)}
        np.savez_compressed(FOLDER / f"{name}.npz", **arrays)
        sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
