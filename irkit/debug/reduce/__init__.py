"""Reduction of a failing case to a small one.

Reading order: case, well_defined (programs with one meaning), failure (how a case fails), shrink
(the candidates), families (their order), reduce (the search), regression (the result as files and a
test).
"""
