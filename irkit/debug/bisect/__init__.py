"""The pass that breaks a program, and the rewrite inside it. Reading order: culprit (the result),
caller_span (which line reported a rewrite), rewrite_search, bisect."""
