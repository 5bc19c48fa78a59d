"""The HTTP application: every room's routes, one way to tell errors, one description of it all."""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from itertools import starmap
from typing import Any, Final

import anyio
from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memoranda.app import Memoranda
from memoranda.surfaces.http import (
    access,
    agent_files,
    briefs,
    chat_runs,
    chats,
    conversation_keys,
    conversation_search,
    conversation_sizes,
    conversations,
    definitions,
    dossier,
    events,
    exchange,
    files,
    graphs,
    health,
    inbox,
    instructions,
    kept,
    knowledge,
    memories,
    proposals,
    removal,
    runs,
    state,
    tools,
)
from memoranda.surfaces.http.beside import Beside, no_route, route_to
from memoranda.surfaces.http.errors import MethodNotAllowed
from memoranda.surfaces.http.operation import Operation
from memoranda.surfaces.http.problems import Problem, response_to, tell_problems
from memoranda.surfaces.http.stopping import answered

ROOMS: Final[tuple[APIRouter, ...]] = (
    briefs.routes,
    proposals.routes,  # before memories: no id is called proposals
    removal.routes,
    exchange.routes,
    memories.routes,
    knowledge.routes,
    conversation_search.routes,
    conversation_keys.routes,
    conversation_sizes.routes,
    conversations.routes,
    kept.routes,
    graphs.routes,
    chats.routes,
    chat_runs.routes,
    runs.routes,
    events.routes,
    state.routes,
    tools.routes,
    inbox.routes,
    dossier.routes,
    definitions.routes,
    instructions.routes,
    files.routes,
    agent_files.routes,
    access.routes,
    health.routes,
)


class Api(FastAPI):
    """The application, whose description also defines what problems look like."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, also one that is cancelled because the server stops."""
        await answered(super().__call__, scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        """The API's description, in OpenAPI 3.1."""
        if not self.openapi_schema:
            self.openapi_schema = _plainly_named(super().openapi())
        described = self.openapi_schema
        schemas = described.setdefault("components", {}).setdefault("schemas", {})
        schemas.setdefault(Problem.__name__, Problem.model_json_schema(mode="serialization"))
        return described


def create_app(
    memoranda: Memoranda,
    *,
    work: bool = False,
    beside: Sequence[Beside] = (),
    absent: Mapping[str, str] | None = None,
) -> FastAPI:
    """Make the application over an opened Memoranda, which stays the caller's to close.

    With `work`, a worker takes in what is added for as long as the application runs. What is
    `beside` the routes stands behind the same keys. `absent` says at which paths something could
    stand and does not, and why.
    """
    app = Api(
        title="Memoranda",
        version="1",
        summary="What an agent's run may know, remember and be shown.",
        docs_url=None,  # the pages that come with the framework load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # a redirect would repeat a Host that the caller chose
        generate_unique_id_function=_operation_id,
        lifespan=lambda _: _running(memoranda, work, beside),
    )
    app.state.memoranda = memoranda
    app.state.addresses = frozenset(
        route.path
        for room in ROOMS
        for route in room.routes
        if isinstance(route, Operation) and not route.param_convertors
    )
    for room in ROOMS:
        app.include_router(room)
    app.router.routes.extend(map(route_to, beside))
    app.router.routes.extend(starmap(no_route, (absent or {}).items()))
    tell_problems(app)
    app.add_exception_handler(HTTPStatus.METHOD_NOT_ALLOWED, _method_not_allowed)
    return app


async def _method_not_allowed(request: Request, _: Exception) -> Response:
    """Tell every method of the path: the framework knows those of its first route alone."""
    path, fixed = request.url.path, request.url.path in request.app.state.addresses
    routes = (route for room in ROOMS for route in room.routes if isinstance(route, Operation))
    methods = {
        method
        for route in routes
        if (route.path == path if fixed else route.path_regex.match(path))
        for method in route.methods or ()
    }
    refusal = MethodNotAllowed("This path does not answer this method; Allow lists those it does.")
    return response_to(refusal, {"Allow": ", ".join(sorted(methods))})


def _plainly_named(described: dict[str, Any]) -> dict[str, Any]:
    """Call a page of memories `MemoryPage` as its title does; the framework calls it `Page_Memory_`."""
    written = json.dumps(described)
    for name, schema in described["components"]["schemas"].items():
        if name.endswith("_"):
            written = re.sub(rf'(?<=["/]){name}(?=")', schema["title"], written)
    return dict(json.loads(written))


def _operation_id(route: APIRoute) -> str:
    return route.name


@asynccontextmanager
async def _running(
    memoranda: Memoranda,
    work: bool,  # noqa: FBT001 - a lambda hands it on
    beside: Sequence[Beside],
) -> AsyncIterator[None]:
    async with AsyncExitStack() as lasting:
        for each in beside:
            await lasting.enter_async_context(each.running())
        async with anyio.create_task_group() as tasks:
            if work:
                tasks.start_soon(memoranda.worker.run)
            yield
            tasks.cancel_scope.cancel()
