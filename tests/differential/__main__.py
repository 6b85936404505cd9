"""Run drawn programs: ``python -m tests.differential onnx --count 1000 --out cases.jsonl``."""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

KINDS = ("onnx_models", "tensor_expressions", "torch_programs", "torch_gradients")
SECONDS = 120.0
"""Most time for one program; more is a finding."""


def main() -> int:
    """Run the cases that the file does not have yet; the exit code is 1 if one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("kind", choices=KINDS, help="what to draw")
    parser.add_argument("--count", type=int, default=100, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--out", type=Path, help="a line of JSON for each; resumes if it exists")
    options = parser.parse_args()
    lines = _known(options.out)
    numbers = [n for n in range(options.first, options.first + options.count) if n not in lines]
    for outcome in _outcomes(options.kind, numbers):
        lines[outcome["number"]] = outcome
        if options.out is not None:
            with options.out.open("a") as file:
                file.write(json.dumps(outcome) + "\n")
        if outcome["status"] in ("wrong", "crashed"):
            sys.stdout.write(f"{outcome['number']}: {outcome['status']}: {outcome['note']}\n")
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r{len(lines)} of {options.count} ")
    sys.stdout.write(_summary(list(lines.values())))
    return 1 if any(line["status"] in ("wrong", "crashed") for line in lines.values()) else 0


def _known(path: Path | None) -> dict[int, dict[str, Any]]:
    if path is None or not path.exists():
        return {}
    return {line["number"]: line for line in map(json.loads, path.read_text().splitlines())}


def _outcomes(kind: str, numbers: list[int]) -> Any:
    """Yield the outcome of each number, from a process that starts anew when it dies."""
    todo = list(numbers)
    while todo:
        command = [sys.executable, "-m", "tests.differential.worker", kind]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as worker:
            assert worker.stdin is not None
            assert worker.stdout is not None
            while todo:
                number = todo.pop(0)
                begin = time.monotonic()
                worker.stdin.write(f"{number}\n")
                worker.stdin.flush()
                line = worker.stdout.readline()
                if not line:
                    code = worker.wait()
                    yield {"number": number, "status": "crashed", "note": f"exit code {code}"}
                    break
                seconds = time.monotonic() - begin
                yield {"number": number, **json.loads(line), "seconds": round(seconds, 3)}
            worker.stdin.close()


def _summary(lines: list[dict[str, Any]]) -> str:
    counts = Counter(line["status"] for line in lines)
    covered = Counter(name for line in lines for name in line.get("covers", ()))
    notes = Counter(line["note"][:90] for line in lines if line["status"] == "refused")
    text = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    text += f"; {len(covered)} operators\n"
    return text + "".join(f"  refused {count}: {note}\n" for note, count in notes.most_common(12))


if __name__ == "__main__":
    sys.exit(main())
