"""docs/write-a-pass.md, run from top to bottom: each file, each command, each output."""

import re
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT, Command, Reader, blocks_of, named_file, switches_of

PAGE = ROOT / "docs" / "write-a-pass.md"
TEXT = PAGE.read_text()


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks_of(PAGE):
        first, _, rest = block.text.partition("\n")
        if first.startswith("# shown: "):
            assert rest in (reader.folder / first.removeprefix("# shown: ")).read_text()
        elif block.kind == "toml":
            assert block.text in (reader.folder / "pyproject.toml").read_text()
        elif block.kind == "python" and named_file(block) is None:
            run_python(reader, block.text)
        else:
            reader.block(block)
    assert reader.ran == TEXT.count("\n$ ")
    # The last step stands on what was installed, and shows the pass at work.
    reader.run(Command("irkit opt kernel.irs --pass 1:unroll-short-loops --remarks", "def scale("))


def run_python(reader: Reader, text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=reader.folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 unroll-short-loops{most=3}" in done.stdout, done.stderr
    assert done.stdout.endswith("eliminate-common-subexpressions\n")


def test_every_switch_of_the_page_exists() -> None:
    known = switches_of("opt") | switches_of("compile")
    assert set(re.findall(r"--[a-z][a-z-]+", TEXT)) - {"--no-deps"} <= known
