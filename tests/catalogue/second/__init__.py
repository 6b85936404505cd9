"""The second set of passes: 61 bad and 60 legal ones, and 22 and 11 that are hard to judge.

They were written from docs/semantics.md and docs/first-pass.md alone, and committed before the
checks ran over them for the first time.
"""
