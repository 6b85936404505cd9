"""Editing a program at a step, and running the rest."""
