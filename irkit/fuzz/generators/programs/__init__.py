"""Samples that are programs.

Reading order: lanes, function_samples, seed_functions, program_samples."""
