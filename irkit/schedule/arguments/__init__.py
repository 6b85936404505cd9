"""What primitives take beside references: condition, index_map, intrinsics; reference_check refuses
an argument that should be a block or loop and is not."""
