"""docs/inspector.md: the task for an editor is one that the command takes."""

import json
import re

from irkit.cli import inspect
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "inspector.md"


def test_the_task_of_an_editor_is_a_command_that_there_is() -> None:
    blocks = re.findall(r"^```json\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    (task,) = [task for block in blocks for task in json.loads(block)["tasks"]]
    verb, *given = [each.replace("${file}", str(PAGE)) for each in task["args"]]
    assert (task["command"], verb) == ("irkit", inspect.inspect_.name)
    params = inspect.inspect_.make_context("inspect", given).params
    assert params["files"] == (str(PAGE),)
    assert params["watch"]
