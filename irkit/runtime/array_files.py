"""Arrays in files of NumPy: any name, and types that NumPy does not know."""

import os
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import atomic_write
from irkit.ir import as_dtype, numpy_dtype


def write_arrays(path: "str | os.PathLike[str]", arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an .npz file; ``numpy.savez`` does not accept every name."""
    with atomic_write(path) as made, zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def named_type(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that was read from a file with its type: NumPy writes one that it does not
    know, such as bf16, as bytes without a name."""
    return array.view(numpy_dtype(as_dtype("bf16"))) if array.dtype == np.dtype("V2") else array
