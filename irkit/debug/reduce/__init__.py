"""Reduction of a failing case to a small one.

Reading order: search (for anything smaller; `irkit.fuzz.shrink` uses it too), case, failure (how a
case fails), shrink (the candidates), families (their order), reduce, regression (the result as
files and a test), module_case and module_reduction (a pass over graphs or modules).

A candidate counts only if it verifies, runs within bounds, and gives the same whatever fresh memory
holds and in which order unordered loops run (``check.well_defined``): otherwise a search ends at
programs of which any compiler may make what it likes. A case may begin in the middle of a pipeline:
what earlier passes made becomes the function, and the facts it fulfils are taken as given.
"""
