"""Models in shared libraries, called through their C interface: what other languages do, in Python.

Reading order: c_structs (what the header of a model declares), library_model.
"""

from irkit.runtime.c_library.library_model import (
    LibraryModel as LibraryModel,
    load_library as load_library,
)
