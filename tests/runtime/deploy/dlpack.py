"""A model's library, loaded by ctypes, and tensors of DLPack for it."""

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


class Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Described(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("dtype", DataType),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("symbols", ctypes.POINTER(ctypes.c_char_p)),
    )


class Dim(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("least", ctypes.c_int64), ("most", ctypes.c_int64))


VERSION = 4
Body = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
Parallel = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, Body, ctypes.c_void_p
)


class Options(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("version", ctypes.c_uint32),
        ("weights", ctypes.c_void_p),
        ("weights_size", ctypes.c_size_t),
        ("weights_file", ctypes.c_char_p),
        ("parallel", Parallel),
        ("parallel_context", ctypes.c_void_p),
        ("threads", ctypes.c_int32),
    )


def tensor(array: Any, *, strides: bool = False, offset: int = 0) -> Tensor:
    """Return an array as DLPack describes it; ``offset`` bytes of it are byte_offset."""
    whole = [*array.shape, 0]
    made = Tensor(
        array.ctypes.data - offset,
        Device(1, 0),
        array.ndim,
        DataType(_CODES[array.dtype.kind], 8 * array.itemsize, 1),
        (ctypes.c_int64 * len(whole))(*whole),
        None,
        offset,
    )
    if strides:
        steps = [step // array.itemsize for step in array.strides]
        made.strides = (ctypes.c_int64 * max(1, len(steps)))(*steps)
    return made


class CModel:
    """A model in a shared library, by its C interface."""

    def __init__(self, path: Any, name: str, options: Options | None = None) -> None:
        self.library, self.name = ctypes.CDLL(str(path)), name
        self.handle = ctypes.c_void_p()
        at = None if options is None else ctypes.byref(options)
        self.code = self.function("create")(ctypes.byref(self.handle), at)

    def function(self, verb: str, result: Any = ctypes.c_int) -> Any:
        found = getattr(self.library, f"{self.name}_{verb}")
        found.restype = result
        return found

    @property
    def error(self) -> str:
        return self.function("error", ctypes.c_char_p)().decode()

    def described(self, verb: str) -> list[tuple[str, tuple[int, ...]]]:
        count = self.function(f"{verb}_count")()
        rows = [self.function(verb, ctypes.POINTER(Described))(n).contents for n in range(count)]
        return [(row.name.decode(), tuple(row.shape[: row.ndim])) for row in rows]

    def symbols(self, verb: str) -> list[list[str | None]]:
        """Return the texts of open dimensions of inputs or outputs."""
        count = self.function(f"{verb}_count")()
        rows = [self.function(verb, ctypes.POINTER(Described))(n).contents for n in range(count)]
        return [[s and s.decode() for s in row.symbols[: row.ndim]] for row in rows]

    def dims(self) -> list[tuple[str, int, int]]:
        found = self.function("dim_number", ctypes.POINTER(Dim))
        rows = [found(n).contents for n in range(self.function("dim_count")())]
        return [(row.name.decode(), row.least, row.most) for row in rows]

    def output_shapes(self, inputs: list[Tensor]) -> list[tuple[int, ...]] | str:
        """Return the shapes of outputs, or why these inputs are refused."""
        kind, ranks = ctypes.POINTER(Tensor), [len(shape) for _, shape in self.described("output")]
        given = (kind * max(1, len(inputs)))(*[ctypes.pointer(each) for each in inputs])
        rows = [(ctypes.c_int64 * max(1, rank))() for rank in ranks]
        table = (ctypes.c_void_p * max(1, len(rows)))(*[ctypes.addressof(row) for row in rows])
        if self.function("output_shapes")(self.handle, given, table):
            return self.error
        return [tuple(row[:rank]) for row, rank in zip(rows, ranks, strict=True)]

    def run_tensors(self, inputs: list[Tensor], outputs: list[Tensor]) -> int:
        kind = ctypes.POINTER(Tensor)
        tables = [
            (kind * max(1, len(each)))(*[ctypes.pointer(t) for t in each])
            for each in (inputs, outputs)
        ]
        return self.function("run")(self.handle, *tables)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        given = [tensor(np.asarray(inputs[n], order="C")) for n, _ in self.described("input")]
        made = {n: np.zeros(shape, "f4") for n, shape in self.described("output")}
        code = self.run_tensors(given, [tensor(array) for array in made.values()])
        assert code == 0, self.error
        return made

    def __enter__(self) -> "CModel":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.function("destroy", None)(self.handle)
