"""Object files in this process without LLVM: what a package needs where llvmlite is missing.

Reading order: object_file (sections, symbols and relocations of ELF), relocation (what a relocation
writes), loaded_code (memory, addresses, protection). For x86-64 under Linux. renamed_symbols
changes names in the file itself, for any processor of 64 bits.

Code of packages is simple: it has no thread-local variables, no start-up code and no exceptions, so
what unwinds the stack is left out. Whatever else an object file might have is refused by name.
"""

from irkit.runtime.object_loader.loaded_code import (
    LoadedCode as LoadedCode,
)
