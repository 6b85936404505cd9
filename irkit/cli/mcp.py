"""The verb mcp of the ``irkit`` command."""

from typing import Any

import click

from irkit.cli.flags.files import FILE
from irkit.cli.trace_tools import UNTRUSTED, TraceTools, error_answer, is_error
from irkit.core import IRKitError


@click.command("mcp")
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option(
    "--allow-run",
    is_flag=True,
    help="Also answer check, bisect and run, which run the programs of the traces, in a child "
    "process with limits of time and memory.",
)
def mcp_(files: tuple[str, ...], allow_run: bool) -> None:
    """Answer questions about the traces in FILES, by the Model Context Protocol, on standard input
    and output.

    Only these files are opened, before the first question; questions name a trace as t0, t1 and so
    on. Needs the package mcp: pip install 'irkit[mcp]'.

    \b
      irkit mcp model.trace
      irkit mcp old.trace new.trace --allow-run
    """
    server_class = _server_class()
    tools = TraceTools(files)
    server: Any = _with_errors(server_class)("irkit", instructions=UNTRUSTED)
    for tool in (*tools.reads, *(tools.runs_code if allow_run else ())):
        server.add_tool(tool, structured_output=False)
    server.run("stdio")


def _server_class() -> Any:
    try:
        from mcp.server import MCPServer  # pyright: ignore
    except ImportError as error:
        raise IRKitError(
            f"irkit mcp needs the package mcp, version 2: {error}",
            hint="Install it with: pip install 'irkit[mcp]'",
        ) from error
    return MCPServer  # pyright: ignore


def _with_errors(server_class: Any) -> Any:
    """Return a class of servers that flags errors, each an answer in JSON like the others."""
    from mcp.types import CallToolResult, TextContent  # pyright: ignore

    class Server(server_class):
        async def call_tool(self, name: str, arguments: Any, context: Any = None) -> Any:
            try:
                answer = await super().call_tool(name, arguments, context)  # pyright: ignore -- mcp is optional
                text = str(answer.content[0].text)  # pyright: ignore -- as above
            except Exception as error:
                text = error_answer(_mistake(name, error))
            content: Any = [TextContent(type="text", text=text)]
            return CallToolResult(content=content, is_error=is_error(text))

    return Server


def _mistake(name: str, error: Exception) -> str:
    """Return what is wrong with a question, without the words of the library that checks it."""
    errors: Any = getattr(error.__cause__, "errors", None)
    if errors is None:
        return str(error)
    wrong = [
        f"{'.'.join(map(str, each['loc']))} is {each['input']!r}: {each['msg'].lower()}"
        if each["type"] != "missing"
        else f"{'.'.join(map(str, each['loc']))} is missing"
        for each in errors()
    ]
    return f"wrong arguments of {name}: {'; '.join(wrong)}"
