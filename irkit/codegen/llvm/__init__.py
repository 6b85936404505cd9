"""LLVM IR and native code.

Reading order: builder (text of modules and functions), arithmetic, math, expressions, parallel,
statements, module (kernels, stubs, the executor), compiler (LLVM itself: targets, passes, object
files).

A kernel is ``i32 @name(pointers and scalars in order of the parameters, i64 for each shape
variable)``. It returns 0, the number of the assertion that failed, or -1 without memory. Up to 64
KiB of constant size lies on the stack, the rest comes from the heap. Scalar conditionals branch
where a side reads memory; vector ones put a mask on the loads. Polynomials ask for fused operations
by name and carry no ``contract``, so a scalar and each lane agree bit for bit. An outermost
parallel loop is a function that gets what it uses as parameters, so pointers can be ``noalias``;
parallel loops inside it are serial. ``host`` asks a child process about processor names: LLVM may
abort.
"""
