"""A failing case made small. Reading order: case, well_defined (programs with one meaning), failure
(how a case fails), shrink (the candidates), families (in which order), reduce (the search),
regression (the result as files and a test)."""
