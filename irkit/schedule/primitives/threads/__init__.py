"""Primitives on the threads of a launch: bind, env_threads."""
