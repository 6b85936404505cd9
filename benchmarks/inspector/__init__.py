"""The inspector on large traces and under load."""
