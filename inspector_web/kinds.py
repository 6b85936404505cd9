"""The kinds of work that the page may ask for."""

from collections.abc import Mapping

from irkit.inspector_web.tasks import Kind

WORK: Mapping[str, Kind] = {}
"""By the name that stands in a request."""
