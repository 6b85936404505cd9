"""Building blocks of LLVM IR text.

Reading order: types (spelling of types, constants, names), debug_info, text (a module and its
functions), scope (values in reach), exits (leaving a function early).
"""
