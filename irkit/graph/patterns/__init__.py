"""Patterns over operators, as data, and rules that replace what they match.

Reading order: graph_facts (what is asked of a function), pattern, rules.
"""
