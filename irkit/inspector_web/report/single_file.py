"""The report: the page, its script, its style and its data in one HTML file."""

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Sequence
from importlib.resources import files

import msgspec

from irkit.inspector_web.jobs.verdicts import StepVerdicts
from irkit.inspector_web.report.data import ReportWriter
from irkit.inspector_web.report.view_data import NativeOf
from irkit.inspector_web.runs.workspace import Workspace

MODULES = (
    "dom.js",
    "navigation/place.js",
    "panels/pickers.js",
    "navigation/keep_place.js",
    "diff/rows.js",
    "source/myers.js",
    "source/report.js",
    "theme.js",
    "editor.js",
    "navigation/keys.js",
    "navigation/menus.js",
    "navigation/crumbs.js",
    "navigation/palette.js",
    "panels/beside.js",
    "panels/pass_list.js",
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
    "views/views.js",
    "jobs/rerun.js",
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
    "main.js",
)
"""The modules of the page, ordered so that each imports only earlier ones."""

STYLES = tuple(
    f"style/{name}.css"
    for name in ("tokens", "page", "overview", "passes", "diff", "views", "panes", "jobs")
)
"""The style sheets of a report. style/rerun.css is for what needs a server."""

_START = """
readReport(document.getElementById("data")).then(
  (data) => start(new ReportSource(data)),
  (error) => { document.getElementById("view").textContent = `This file is damaged: ${error}`; });
"""
_IMPORT = re.compile(r"^import .*;\n", re.M)
_EXPORT = re.compile(r"^export (?=class|function|async|const)", re.M)
_LINKS = re.compile(r'<(?:link rel="(?:icon|stylesheet)"[^>]*|script [^>]*></script)>\n')


def report(
    workspace: Workspace,
    title: str,
    checked: Sequence[StepVerdicts] = (),
    native_of: NativeOf | None = None,
) -> str:
    """Return the HTML of a report.

    ``checked`` are the verdicts on the steps of each run, if there are any. ``native_of`` compiles
    the final stage of each function; without it, the report has no machine code. ``title`` names
    the files, for the command that opens them with what a report cannot do.
    """
    data = msgspec.json.encode(ReportWriter(workspace, native_of).data(title, checked))
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")
    return _page(title, packed)


def _page(title: str, packed: str) -> str:
    script = bundle() + _START
    style = "\n".join(_static(name) for name in STYLES)
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>\n"
    )
    tail = (
        f'<script type="application/octet-stream" id="data">{packed}</script>\n'
        f'<script type="module">{script}</script>\n'
    )
    page = _LINKS.sub("", _static("index.html"))
    page = page.replace(
        "<title>irkit inspect</title>", f"<title>{html.escape(title, quote=False)}</title>\n{head}"
    )
    return page.replace("</body>", f"{tail}</body>")


def bundle() -> str:
    """Join the modules of the page to one script."""
    parts = [_EXPORT.sub("", _IMPORT.sub("", _static(name))) for name in MODULES]
    made = "\n".join(parts)
    assert "</script" not in made, "</script would end the script"
    return made


def _static(name: str) -> str:
    folder = files("irkit.inspector_web") / "static"
    return folder.joinpath(*name.split("/")).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
