"""LLVM as a library, through llvmlite.

Reading order: library (LLVM, if it is there), pass_manager, processor (features), cpuinfo and host
(this machine; targets completed), masked_stores and masked_logic (workarounds for LLVM 22),
object_file (optimise, assemble).
"""
