"""C source from loop IR: C11, with the vector extension of GCC and Clang.

Reading order: types (spelling), writer (text of a file and of a function), helpers (functions that
the file defines where it uses them), lane_ops (expansions of math functions), functions (intrinsic
functions), expressions, memory_access, registers and kept_loads (what stays in registers),
statements, source_file.

A scalar is an expression of C, nested as long as lines stay short. A vector is a value of the
compiler's vector extension, padded to a power of two, and is never passed to a function by value:
what the extension lacks (division, shifts, calls, gathers) is a loop over lanes. A bool vector has
0 and -1 in 8 bits. Values of f16 and bf16 are ``float`` that hold numbers of 16 bits, which integer
code makes. Signed arithmetic that may wrap around is done in the unsigned type.
"""
