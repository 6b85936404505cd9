"""What all workers of a run of pytest make once."""
