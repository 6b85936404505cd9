"""The files of the page, and its modules joined to one script and its style sheets to one.

In a browser, one script of 50 modules is there several times as early as 50 requests. The modules
stay what is written and read: joining them needs no tool, and happens when irkit starts.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}

MODULES = (
    "dom.js",
    "navigation/place.js",
    "panels/pickers.js",
    "navigation/keep_place.js",
    "diff/rows.js",
    "theme.js",
    "editor.js",
    "navigation/keys.js",
    "navigation/menus.js",
    "navigation/crumbs.js",
    "navigation/palette.js",
    "panels/beside.js",
    "panels/pass_list.js",
    "diff/along.js",
    "diff/chunks.js",
    "diff/diff_view.js",
    "diff/text_chain.js",
    "views/pass_times.js",
    "jobs/badge.js",
    "jobs/job.js",
    "jobs/unavailable.js",
    "views/llvm_passes.js",
    "views/rewrites.js",
    "views/mismatch.js",
    "views/graph_picture.js",
    "views/graph_colours.js",
    "views/graph_page.js",
    "views/code_lexer.js",
    "views/mnemonics.js",
    "views/panes.js",
    "jobs/costs.js",
    "views/roofline.js",
    "views/loop_times.js",
    "views/cost.js",
    "views/executor.js",
    "views/views.js",
    "jobs/rerun.js",
    "jobs/coloured_area.js",
    "jobs/edit.js",
    "jobs/upload.js",
    "panels/details.js",
    "navigation/moves.js",
    "waiting.js",
    "jobs/verdicts.js",
    "jobs/run_jobs.js",
    "navigation/controls.js",
    "overview/ribbon.js",
    "overview/matrix.js",
    "overview/kernel_table.js",
    "overview/labels.js",
    "overview/comparison.js",
    "overview/overview.js",
    "diff/answers.js",
    "main.js",
)
"""The modules of the page; each imports only earlier ones, and the last the source of data."""

DataSource = Literal["report", "server"]
SOURCES: dict[DataSource, tuple[str, ...]] = {
    "report": ("source/myers.js", "source/report.js"),
    "server": ("source/server.js",),
}
"""The modules of each source of data; they come before the last of the others."""

_IMPORT = re.compile(r"^import .*;\n", re.M)
_EXPORT = re.compile(r"^export (?=class|function|async|const)", re.M)
_STYLE = re.compile(r'<link rel="stylesheet" href="/static/([^"]*)">\n')


@cache
def static_files() -> dict[str, bytes]:
    """Return the files of the page by path."""
    found: dict[str, bytes] = {}
    folders = [("", files("irkit.inspector_web") / "static")]
    while folders:
        above, folder = folders.pop()
        for file in folder.iterdir():
            if file.is_dir():
                folders.append((f"{above}{file.name}/", file))
            elif file.name.rpartition(".")[2] in TYPES:
                found[above + file.name] = file.read_bytes()
    return found


def static_text(name: str) -> str:
    """Return the text of a file of the page."""
    return static_files()[name].decode()


def modules_with(source: DataSource) -> tuple[str, ...]:
    """Return the modules of the page in order, with those of the source of its data."""
    *earlier, main = MODULES
    return (*earlier, *SOURCES[source], main)


def bundle(source: DataSource) -> str:
    """Join the modules of the page to one script."""
    parts = [_EXPORT.sub("", _IMPORT.sub("", static_text(name))) for name in modules_with(source)]
    made = "\n".join(parts)
    assert "</script" not in made, "</script would end the script"
    return made


@cache
def _loaded_files() -> dict[str, bytes]:
    """Return the files of the page by path, and what it loads: all styles and modules, joined."""
    styles = [static_text(name) for name in _STYLE.findall(static_text("index.html"))]
    script = f"{bundle('server')}\nstart(new ServerSource());\n"
    joined = {"page.css": "\n".join(styles), "page.js": script}
    return {**static_files(), **{name: text.encode() for name, text in joined.items()}}


def digest(files: Mapping[str, bytes]) -> str:
    """Return a digest of the names and contents of files."""
    made = hashlib.sha256()
    for path, content in sorted(files.items()):
        made.update(f"{path} {len(content)} ".encode() + content)
    return made.hexdigest()[:16]


@cache
def address(name: str) -> str:
    """Return the address at which a server has a file; it holds a digest of all files, so browsers
    can keep what they got from there."""
    return f"/static/{digest(_loaded_files())}/{name}"


@cache
def served_files() -> dict[str, bytes]:
    """Return all that a server has, by path. No request refers to a file on disk."""
    page = _STYLE.sub("", static_text("index.html")).replace("/static/", address(""))
    style = f'<link rel="stylesheet" href="{address("page.css")}">\n'
    page = page.replace("<script ", f"{style}<script ", 1)
    return {**_loaded_files(), "index.html": page.encode()}
