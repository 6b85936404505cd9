"""Changes to irkit's source: a catalogue of seeded bugs, and random mutants.

Reading order: source, pattern, seeded_bug (the catalogue is in `tests/mutation/bugs`); modules
(which are changed), sites (which nodes), mutant, sample, coverage_probe.
"""
