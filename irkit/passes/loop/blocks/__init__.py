"""Passes on blocks: a schedule for those that have none; lowering, inits first.

Reading order: auto_schedule, lower_init_blocks, lower_blocks.
"""
