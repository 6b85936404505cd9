"""A run as files that need no server.

Reading order: data with view_data (all that the page may ask for, as one struct), single_file (the
page, its script and the data in one HTML file), summaries (JSON, JUnit and Markdown). From here:
report, as_json, as_junit, as_markdown.
"""
