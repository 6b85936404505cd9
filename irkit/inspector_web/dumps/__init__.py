"""What other compilers print after their passes, as steps of text.

Reading order: dump (what a reader yields, and what a reader is), parts (the functions in the text
of a module), dump_steps (from what was printed to steps with IR before and after). The readers:
llvm_dump, mlir_dump, mlir_tree (a folder of files), tvm_dump, step_lines (the documented format).
readers chooses among them and those of installed packages.
"""
