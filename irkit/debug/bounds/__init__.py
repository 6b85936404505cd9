"""Proofs, stage by stage, that no access leaves its buffer.

Reading order: stages (what each stage of a program is asked), bounds_table.
"""
