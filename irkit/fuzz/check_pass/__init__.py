"""`check_pass`: a decorator that tests a user's pass on random programs.

`examine` lowers a program with the pass at its position, and checks the contracts of `irkit.debug`
on the pass before the pass runs: one that writes into its input leaves nothing to compare with
afterwards. The numbers of the whole lowering are compared next; a failure in a later pass is blamed
on the pass only if the lowering works without it. Programs are drawn by number, in forms of which
those that the pass changes are drawn more often, until it changed enough of them or the `budget` of
time is spent; most that it leaves alone are only run up to it. A smaller program counts only if it
breaks the same contract. Hypothesis draws and shrinks what a strategy of the user's gives; it knows
nothing of passes that fired, which `tally` counts, so its health checks are off, and so is its
database, because the `corpus` is text and is tried first. A program is on disk while it
runs; one left there by a dead process is tried in another process, and is a finding if that one
dies too.

Reading order: settings, profile, budget, position (where the pass goes), programs,
numbered_programs, examination (one program through the lowering), pass_case (what the test sees),
tally, corpus, finding, case_runner (one program of a test), draw_programs, check_run (one run of
a test), check_pass.
"""
