"""Compilation targets as data: target_table (processors with names), device_table
(devices with threads), target (what a user gives)."""
