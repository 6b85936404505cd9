"""Try many changes and report the score.

Reading order: server_pool, check_runs (the checks on fixed programs); blame (which pass may be
named), fuzz_runs, fuzz_score, all_changes (fuzzing).
"""
