"""Tests of the comparison of targets."""
