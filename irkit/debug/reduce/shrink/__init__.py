"""Candidates of a reduction, one file for each part of a case.

The parts are pipeline, schedule, function, signature and inputs.
"""
