"""Small functions from lines of text, and what passes make of them."""

from irkit.core import Recorder, recording
from irkit.fuzz.generators.loops.loop_functions import arguments
from irkit.ir import PrimFunc, interpret, parse, script
from irkit.transform import AnyPass

HEAD = "def f(A: f32[64], B: f32[8, 8], C: f32[64], n: i64):\n"


def func(*lines: str) -> PrimFunc:
    return parse(HEAD + "".join(f"    {line}\n" for line in lines))


def applied_with_remarks(p: AnyPass, *lines: str) -> tuple[list[str], list[str]]:
    recorder = Recorder()
    with recording(recorder):
        made = script(p(func(*lines))).removeprefix(HEAD)
    remarks = [remark.text for remark in recorder.remarks]
    return [line[4:] for line in made.splitlines()], remarks


def outputs(func: PrimFunc) -> list[bytes]:
    arrays = arguments(func)
    interpret(func, *arrays)
    return [getattr(array, "tobytes", lambda a=array: repr(a).encode())() for array in arrays]


def body(made: PrimFunc) -> str:
    return script(made).removeprefix(HEAD)


def text(*lines: str) -> str:
    return "".join(f"    {line}\n" for line in lines)
