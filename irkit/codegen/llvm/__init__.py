"""LLVM IR and native code.

Reading order: builder (text of modules and functions), arithmetic, math, expressions, parallel,
statements, module (kernels, stubs, the executor), compiler (LLVM itself: targets, passes, object
files).
"""
