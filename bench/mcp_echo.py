"""The bare SDK, beside which our tools are measured: one tool that answers what it was given."""

import asyncio
import json
import socket
import sys
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


async def list_tools(_: Any, __: Any) -> ListToolsResult:
    """The one tool."""
    return ListToolsResult(tools=[Tool(name="echo", input_schema=SCHEMA)])


async def call_tool(_: Any, params: CallToolRequestParams) -> CallToolResult:
    """Answer what was given, as a text and as JSON."""
    given = params.arguments or {}
    return CallToolResult(content=[TextContent(text=json.dumps(given))], structured_content=given)


def server() -> Server[Any]:
    """A server with nothing but this."""
    return Server("echo", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_pipes() -> None:
    """Serve one client over standard input and output."""
    made = server()
    async with stdio_server() as (inbound, outbound):
        await made.run(inbound, outbound, made.create_initialization_options())


async def over_http() -> None:
    """Serve over HTTP on a free port, which is printed."""
    app = server().streamable_http_app(stateless_http=True, json_response=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    made = socket.create_server(("127.0.0.1", 0))
    # Named as TCP, as ours is: asyncio sends small answers at once only on sockets that say what they are.
    with socket.socket(
        socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=made.detach()
    ) as listening:
        print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
        await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(over_http() if "http" in sys.argv else over_pipes())
