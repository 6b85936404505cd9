"""The verifier of loop IR: it returns problems and never raises. Reading order: statements (verify,
and one rule for each statement), scopes (what is bound where, loops and barriers), types (one
rule for each expression). Fields of the wrong class are found first, by irkit.core.check_fields.
"""
