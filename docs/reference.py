"""Write the reference of what a pass author uses: ``python -m docs.reference FOLDER``.

pdoc shows what a module defines, or what its ``__all__`` lists. The faces of irkit define nothing
and re-export by ``from x import y as y``, so ``__all__`` is filled in here, before pdoc looks.
"""

import inspect
import re
import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType

FACES = (
    "irkit.core",
    "irkit.transform",
    "irkit.ir",
    "irkit.ir.analysis",
    "irkit.ir.arith",
    "irkit.graph",
)


def public_names(face: ModuleType) -> list[str]:
    """List what a face offers, in the order of its file: all but modules and private names."""
    return [
        name
        for name, value in vars(face).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    ]


def write_reference(folder: Path) -> None:
    """Write a page for each face, and an index."""
    # Imported here: tests that look at names only need no pdoc.
    import pdoc

    for name in FACES:
        face = import_module(name)
        setattr(face, "__all__", public_names(face))
    # A face, and then without the modules in it: what comes later in the list counts.
    wanted = [spec for name in FACES for spec in (name, rf"!{re.escape(name)}\..*")]
    pdoc.render.configure(docformat="restructuredtext")
    # pdoc reads the names of an alias such as ExprLike where it is used, not where it is made.
    warnings.filterwarnings("ignore", "Error parsing type annotation")
    pdoc.pdoc(*wanted, output_directory=folder)


if __name__ == "__main__":
    write_reference(Path(sys.argv[1]))
