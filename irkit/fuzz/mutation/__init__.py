"""Mutation testing of irkit itself: change its source, one place at a time, and see whether the
checks and the fuzzer notice.  Reading order: seeded_bugs (a catalogue), mutants (random
changes), coverage_probe, dependents, trials (what a child process does with a change),
fork_server, runner. Only the commands import this folder."""
