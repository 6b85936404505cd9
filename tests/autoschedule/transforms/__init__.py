"""Products between transforms."""
