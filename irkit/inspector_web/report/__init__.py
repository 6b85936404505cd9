"""Runs as files that need no server.

Reading order: data with view_data (all that the page can ask for, as one struct), single_file (the
page, its script and the data in one HTML file), notebook (that page in a frame of a notebook),
summaries (JSON, JUnit and Markdown).
"""

from irkit.inspector_web.report.notebook import (
    NotebookReport as NotebookReport,
    notebook_report as notebook_report,
)
from irkit.inspector_web.report.single_file import report as report
from irkit.inspector_web.report.summaries import (
    as_json as as_json,
    as_junit as as_junit,
    as_markdown as as_markdown,
)
