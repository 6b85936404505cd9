"""The `irkit` command."""
