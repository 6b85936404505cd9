"""The law of ``docs/legal-changes.md``: what a step may change, and what it must keep.

Reading order: permitted_values (of zeros), kept_attributes (of functions, loops and blocks),
module_promises (functions and calls), assertion_search (assertions that fail).
"""
