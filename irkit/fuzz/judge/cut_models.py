"""The invariant of a model that is cut: the error says where it ends, and which field is not whole.

Protobuf says how long each field of the whole model is, so what the error says is known without
the code that looks for it.
"""

import re
from typing import Any

import onnx

from irkit.core import FormatError
from irkit.frontend.onnx import load_model
from irkit.fuzz.judge.models import ModelCase
from irkit.fuzz.judge.outcome import WrongSample

_CUTS = 4
_PLACE = re.compile(r" at byte (\d+), in ([^:]*): (.*)", re.DOTALL)
_SHORT = re.compile(r"field '(\w+)' should have (\d+) bytes, but (\d+) follow")


def cuts_are_located(case: ModelCase, number: int) -> None:
    """Cut a model at some bytes: it is refused where it ends, or still is a model.

    Raises: WrongSample.
    """
    data = case.sample.ir
    if not isinstance(data, bytes):
        return
    whole = onnx.load_model_from_string(data)
    for turn in range(_CUTS):
        cut = data[: (number * _CUTS + turn) * 7919 % len(data)]
        try:
            load_model(cut)
        except FormatError as error:
            _look_at(error.message, cut, whole)


def _look_at(message: str, cut: bytes, whole: onnx.ModelProto) -> None:
    place = _PLACE.search(message)
    if place is None:
        if "cannot be read as" in message:
            raise WrongSample("broken", f"a model of {len(cut)} bytes is refused: {message}")
        return  # It ends between two fields: what is missing is an output.
    at, within, why = int(place[1]), place[2], place[3]
    short = _SHORT.match(why)
    if short is not None:
        size, left = int(short[2]), int(short[3])
        lengths = _lengths(whole, short[1])
        if within == "the model" and at + left == len(cut) and size in lengths:
            return
    elif within == "the model" and at == len(cut):
        return
    raise WrongSample("broken", f"a model that ends at byte {len(cut)} is refused{place[0]}")


def _lengths(whole: onnx.ModelProto, name: str) -> list[int]:
    """Return the lengths of a field, or of each of its elements."""
    found: Any = getattr(whole, name, ())
    values: list[Any] = [found] if isinstance(found, str) or hasattr(found, "ByteSize") else found
    return [
        len(each.encode()) if isinstance(each, str) else int(each.ByteSize()) for each in values
    ]
