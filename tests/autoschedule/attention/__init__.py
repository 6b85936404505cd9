"""Attention by tiles of queries."""
