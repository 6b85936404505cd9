"""LLVM as a library, through llvmlite.

Reading order: pass_manager, processor (features), host (this machine; targets completed),
masked_stores (a workaround for LLVM 22), object_file (optimise, assemble).
"""
