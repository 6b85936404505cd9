"""Hypothesis settings of the tests of random schedules."""

from hypothesis import HealthCheck, settings

from tests.draws import few_or_all

FEW = settings(
    max_examples=few_or_all(30, 60),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
