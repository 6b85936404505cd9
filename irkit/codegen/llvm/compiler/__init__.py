"""LLVM as a library, through llvmlite: pass_manager, processor (features), host (this machine,
targets made complete), masked_stores (a workaround for LLVM 22), object_file (optimise,
assemble)."""
