"""Code of statements.

Reading order: buffers (strides, stack and heap), assertion_record (values for messages), statements
(the table from class to code).
"""
