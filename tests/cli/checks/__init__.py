"""Tests of the parts of the verb check."""
