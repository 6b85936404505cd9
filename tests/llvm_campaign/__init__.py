"""A standing campaign against LLVM: ``python -m tests.llvm_campaign --time 1h``.

Drawn loop functions are built as ``irkit.build`` builds them, run on each processor, and compared
with the interpreter, so that a bug of LLVM that irkit's code reaches is found here first. Reading
order: programs (draws one), batches (runs many), reduction (of a find, down to the pass of LLVM
that makes it), campaign (goes on where it ended).
"""
