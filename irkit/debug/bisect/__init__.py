"""Search for the pass that breaks a program, and for the rewrite inside it.

Reading order: culprit (the result), caller_span (the line that reported a rewrite), rewrite_search,
bisect.
"""
