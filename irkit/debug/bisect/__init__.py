"""Search for the pass that breaks a program, and for the rewrite inside it.

Reading order: culprit (the result), rewrite_search, rewrite_states (a pass one rewrite at a time),
first_mismatch (who wrote the first wrong element), bisect.
"""
