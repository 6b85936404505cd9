"""Run native code in a child process, which may crash or never end without harm to this one."""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from irkit.core import IRKitError
from irkit.debug.inputs import Array
from irkit.ir import PrimFunc

_LENGTH = 8


class NativeWorker:
    """Hold a child process that compiles and runs functions one after another.

    It starts when first needed, and anew after a crash. Units: ``seconds`` for each call.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._child: subprocess.Popen[bytes] | None = None

    def run(self, func: PrimFunc, args: Sequence[Any]) -> tuple[Array, ...]:
        """Return the arrays as the function leaves them.

        Raises: IRKitError if it cannot be compiled, crashes, writes beside its arrays, or runs
        too long.
        """
        child = self._started()
        assert child.stdin is not None
        assert child.stdout is not None
        out_of_time = threading.Event()

        def stop() -> None:
            out_of_time.set()
            child.kill()

        timer = threading.Timer(self.seconds, stop)
        timer.start()
        try:
            send(child.stdin, (func.script(), [_packed(arg) for arg in args]))
            answer = receive(child.stdout)
        except (EOFError, BrokenPipeError):
            raise self._lost(child, out_of_time.is_set()) from None
        finally:
            timer.cancel()
        if isinstance(answer, str):
            raise IRKitError(answer)
        return answer

    def close(self) -> None:
        """End the child process, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            assert child.stdin is not None
            assert child.stdout is not None
            child.kill()
            child.wait()
            child.stdin.close()
            child.stdout.close()

    def __del__(self) -> None:
        self.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
            self._child = subprocess.Popen(
                [sys.executable, "-m", "irkit.debug.native_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": paths},
            )
        return self._child

    def _lost(self, child: subprocess.Popen[bytes], out_of_time: bool) -> IRKitError:
        code = child.wait()
        self.close()
        if out_of_time:
            return IRKitError(f"the native code did not end within {self.seconds:g} s")
        if code < 0:
            return IRKitError(f"the native code crashed ({signal.Signals(-code).name})")
        return IRKitError(f"the process that runs native code ended with exit code {code}")


def _packed(arg: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Say the strides too: they get lost on the way."""
    return arg, arg.strides if isinstance(arg, np.ndarray) else None


def send(to: IO[bytes], value: object) -> None:
    """Write a value with its length before it."""
    data = pickle.dumps(value, protocol=5)
    to.write(len(data).to_bytes(_LENGTH, "little"))
    to.write(data)
    to.flush()


def receive(source: IO[bytes]) -> Any:
    """Read a value that our own child or parent wrote. Raises: EOFError if it is gone."""
    head = source.read(_LENGTH)
    if len(head) < _LENGTH:
        raise EOFError
    length = int.from_bytes(head, "little")
    data = source.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)
