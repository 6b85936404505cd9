"""Arguments of primitives other than references: condition, index_map, intrinsics
(with dot_intrinsics and builtin_intrinsics: those that come with irkit).

reference_check refuses an argument that should be a block or loop reference and is not.
"""
