"""The report: the page, its script, its style and its data in one HTML file."""

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Sequence

import msgspec

from irkit.inspector_web.jobs.verdicts import StepVerdicts
from irkit.inspector_web.page_files import bundle, static_text
from irkit.inspector_web.report.data import ReportWriter
from irkit.inspector_web.report.view_data import NativeOf
from irkit.inspector_web.runs.workspace import Workspace

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
    script = bundle("report") + _START
    style = "\n".join(static_text(name) for name in STYLES)
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
    page = _LINKS.sub("", static_text("index.html"))
    page = page.replace(
        "<title>irkit inspect</title>", f"<title>{html.escape(title, quote=False)}</title>\n{head}"
    )
    return page.replace("</body>", f"{tail}</body>")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
