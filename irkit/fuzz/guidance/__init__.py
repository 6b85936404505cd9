"""What leads a campaign to code that it has not tried: coverage, and changes to known cases.

A worker watches which branches of irkit's own code a case takes. Cases that take a new one are kept
in a corpus, and some of the further cases are changes to one of them: other choices of the
generator, or other statements, constants, extents and passes in the program that it drew. There are
as many of these as brings new branches. Of the cases that are drawn anew, every second block uses a
random subset of what the generators can do. LLVM optimises the cases that are new to it, and a
sample of the others.

Reading order: branches (coverage), novelty (which code is worth optimising), swarm (subsets of the
generators), choice_changes, constants, expression_changes, program_changes (cases from cases),
corpus.
"""
