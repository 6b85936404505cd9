"""Fuzzing: cases a second, and malformed input by the thousand."""
