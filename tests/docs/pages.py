"""Run the blocks of a page.

A block of Python that begins with ``# file: NAME`` is written to a file, and so is one of text that
begins so. Each ``console`` block runs in a folder of its own, a copy of what the blocks before it
left, and each command in a process of its own, which imports what an installed command does: the
folder it runs in is not on the path for imports. A command that ends in ``# exit code 1`` must exit
so.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import click

from irkit.cli import irkit
from tests.forked_command import run_irkit
from tests.wheels import install

ROOT = Path(__file__).parents[2]
LEFT_OUT = "...\n"


class Block(NamedTuple):
    """One fenced block: its kind, its text, and the line of the page it begins on."""

    kind: str
    text: str
    line: int


class Command(NamedTuple):
    """A command of a console block, and what it prints; ``...`` at the end of a line stands for
    anything."""

    text: str
    printed: str


def blocks_of(page: Path) -> list[Block]:
    """List the fenced blocks of a page."""
    text = page.read_text()
    found = re.finditer(r"^```([\w-]+)\n(.*?)^```$", text, flags=re.M | re.S)
    return [Block(each[1], each[2], text.count("\n", 0, each.start()) + 1) for each in found]


def commands_of(block: Block) -> list[Command]:
    """List the commands of a console block; each begins with ``$``."""
    assert block.text.startswith("$ "), f"line {block.line}: expected a command after '$ '"
    found = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, flags=re.M)
    return [Command(text, printed) for text, printed in found]


def named_file(block: Block) -> tuple[str, str] | None:
    """Return name and content if a block begins with ``# file: NAME``."""
    first, _, rest = block.text.partition("\n")
    return (first.removeprefix("# file: "), rest) if first.startswith("# file: ") else None


def switches_of(verb: str) -> set[str]:
    """List the switches of a verb, with those that turn something off."""
    command = irkit.get_command(click.Context(irkit), verb)
    assert command is not None, verb
    return {word for each in command.params for word in (*each.opts, *each.secondary_opts)}


class Reader:
    """Do what a reader of a page does, block by block."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.folder = folder / "block-0"
        self.folder.mkdir()
        self.site = folder / "site"
        self.ran = 0

    def read(self, page: Path) -> None:
        """Write the files of a page and run its console blocks, in order."""
        for block in blocks_of(page):
            self.block(block)

    def block(self, block: Block) -> None:
        """Write a file, or run a console block in a copy of the folder."""
        file = named_file(block)
        if file is not None:
            (self.folder / file[0]).write_text(file[1])
        elif block.kind == "console":
            fresh = self.home / f"block-{block.line}"
            shutil.copytree(self.folder, fresh)
            self.folder = fresh
            for command in commands_of(block):
                self.run(command, block.line)

    def run(self, command: Command, line: int = 0) -> None:
        """Run a command in a process of its own, and compare what it prints."""
        program, *args = shlex.split(command.text)
        self.ran += 1
        if program == "pip":
            install(self.folder, self.site)
            return
        code = 2 if command.printed.startswith("error:") else 0
        if args[-3:-1] == ["exit", "code"]:
            code, args = int(args[-1]), args[: args.index("#")]
        env = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "PYTHONPATH": f"{ROOT}{os.pathsep}{self.site}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "IRKIT_PROFILE": "ci",
            "COLUMNS": "100",
        }
        if program == "irkit":
            done = run_irkit(args, self.folder, env)
        else:
            assert program == "python", command.text
            done = subprocess.run(
                [sys.executable, *args],
                cwd=self.folder,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
        said = f"line {line}: $ {command.text}\n{done.stdout}{done.stderr}"
        shown = done.stderr if command.printed.startswith("error:") else done.stdout
        assert done.returncode == code, said
        assert holds(command.printed, shown), said


def holds(expected: str, printed: str) -> bool:
    """Return True if what is expected stands in what was printed, in order."""
    at = 0
    for part in expected.split(LEFT_OUT):
        found = printed.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True
