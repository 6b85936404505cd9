"""Options that are durations."""

import re

import click

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


class Duration(click.ParamType[float]):
    """A duration such as 90, 30s, 5m or 1h. Units: seconds."""

    name = "TIME"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds that a text stands for."""
        found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smh]?)", str(value).strip())
        if found is None or not float(found[1]):
            self.fail(
                f"{value!r} is not a duration; expected for example 30s, 5m or 1h", param, ctx
            )
        return float(found[1]) * _UNITS[found[2]]
