"""Schedules of functions whose sizes are not constant."""
