"""Compilation targets as data: target_table (processors with names), target (what a user gives)."""
