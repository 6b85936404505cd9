"""Passes that lower blocks: inits first, then the blocks themselves.

Reading order: lower_init_blocks, lower_blocks.
"""
