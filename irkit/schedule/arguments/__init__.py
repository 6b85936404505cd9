"""Arguments of primitives other than references: condition, index_map, intrinsics.

reference_check refuses an argument that should be a block or loop reference and is not.
"""
