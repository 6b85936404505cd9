"""Benchmarks, most of them as ratios to named peers in one run; `python -m benchmarks` runs them
all.

Reading order: timing; compiler, native_code, schedules, inspector, fuzz.
"""
