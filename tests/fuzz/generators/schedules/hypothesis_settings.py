"""Hypothesis settings of the tests of random schedules."""

from hypothesis import HealthCheck, settings

FEW = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
