"""The fork server, and the work of a forked child on a changed module: lower and check fixed
programs, fuzz until something fails, or keep digests of what is lowered.

Reading order: messages, programs, graph_steps, check_programs, fuzz_until_found, digests,
dependents, fork_server.
"""
