"""Primitives on blocks.

Moving computation: compute_inline, reverse_compute_inline, compute_at, compute_root,
reverse_compute_at. Reductions: decompose_reduction, rfactor, fuse_reduction_epilogue,
begin_at_first. Tensor
intrinsics: blockize, tensorize, shift_to_unsigned. Padding: decompose_padding, pad_einsum,
overcompute. Axes: reorder_block_iter_var, transform_block_layout. Predicates: set_store_predicate.
Copies: specialize.
"""
