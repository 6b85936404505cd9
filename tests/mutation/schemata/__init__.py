"""The share of random changes of irkit that fuzzing finds, out of sample.

All mutants of a sample live in one process (schemata). Each is a switch in irkit's source. A case
is run once with no mutant on, which tells the mutants that it infects: those that compute another
value. It is judged again for these only, so thousands of cases are tried for each mutant.

Reading order: switches, instrument (source with switches), loading, families (what is drawn),
messages, cases (one case), blocks (many, in a process), worker, campaign, proofs, report.
"""
