"""The verifier of loop IR, which returns problems and never raises.

Reading order: statements (``verify``, and a rule per statement), scopes (what is bound where, loops
and barriers), types (a rule per expression), expression_nodes (fields and types of an expression at
once), valid_expressions (what needs no second look). Fields of the wrong class are found first, by
``irkit.core.check_fields``.
"""
