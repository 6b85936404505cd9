"""Proofs, stage by stage, that iterations and threads never meet.

Reading order: stages (what each stage of a program is asked), races_table.
"""
