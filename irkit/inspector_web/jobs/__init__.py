"""Work that takes a while: it waits its turn, runs in a child, and its result is kept.

job (what a kind of job is) and queue first; then one kind of job a file: verdicts, guilty_pass,
costs, llvm_passes (on the steps that chosen_steps looks up), rerun, uploads. job_registry names
all of them.
"""
