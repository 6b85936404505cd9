"""Write the inspector's page about a network as files only: ``python -m docs.playground FOLDER``.

What needs no execution works in it; what does is visible and says which command does it. The
network is the SqueezeNet that ships with onnx, or an ONNX file that is named.
"""

import sys
from pathlib import Path

import onnx

from irkit.core import IRKitError
from irkit.inspector_web.jobs import check_run
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.report import report


def write_playground(folder: Path, model: str = "") -> Path:
    """Write the page to a folder, which is made; return the page."""
    shipped = Path(onnx.__file__).parent / "backend/test/data/light/light_squeezenet.onnx"
    inspection = Inspection((model or str(shipped),))
    try:
        inspection.open()
        workspace = inspection.workspace
        if workspace is None:
            raise IRKitError(inspection.message)
        checked = [check_run(run) for run in workspace.runs]
        page = report(workspace, inspection.title, checked, inspection.native.of)
    finally:
        inspection.close()
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "index.html"
    made.write_text(page, encoding="utf-8")
    return made


if __name__ == "__main__":
    write_playground(Path(sys.argv[1]), *sys.argv[2:3])
