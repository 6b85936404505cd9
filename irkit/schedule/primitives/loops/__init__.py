"""Primitives on loops: split, fuse, reorder; loop_partition, cut_loop, join_loops, shift_loop (the
range of a loop); merge, fission, lift_scope, add_unit_loop (nests); mark (parallel, vectorize,
unroll), annotate, unannotate, pragma (how a loop runs)."""
