"""One call of every operation of what frameworks keep, as the walk goes through them."""

import httpx

from tests.surfaces.http.house import Api, Rows
from tests.surfaces.http.steps import EVERYBODY, PEOPLE, WRITERS, Step, get

SUBJECT = "user_id={user}&agent_id={agent}"
THREAD = f"thread_id={{word}}-thread&{SUBJECT}"
HOSTS = EVERYBODY - {"agent"}
"""Histories and sessions name no agent."""


def delete(path: str, roles: frozenset[str]) -> Step:
    """A DELETE of a path whose `{name}`s are fields of the rows."""

    async def called(api: Api, rows: Rows) -> httpx.Response:
        return await api.delete(path.format(**vars(rows), flow=rows.flow))

    return Step(called, names_rows=True, roles=roles)


KEPT: dict[str, list[Step]] = {
    "GET /v1/kept": [
        get("/v1/kept", EVERYBODY),
        get("/v1/kept?user_id={user}", EVERYBODY, names_rows=False),
    ],
    "GET /v1/kept/export": [
        get("/v1/kept/export", EVERYBODY),
        get("/v1/kept/export?user_id={user}", EVERYBODY, names_rows=False),
    ],
    "GET /v1/graphs/threads": [
        get("/v1/graphs/threads", EVERYBODY),
        get(f"/v1/graphs/threads?{SUBJECT}", EVERYBODY, names_rows=False),
    ],
    "GET /v1/graphs/checkpoints": [get(f"/v1/graphs/checkpoints?{THREAD}", EVERYBODY)],
    "GET /v1/graphs/checkpoint": [
        get(f"/v1/graphs/checkpoint?{THREAD}&namespace={{word}}", EVERYBODY),
        get(
            f"/v1/graphs/checkpoint?{THREAD}&namespace={{word}}&checkpoint_id=1&after=3&most=9",
            EVERYBODY,
        ),
    ],
    "GET /v1/graphs/namespaces": [get("/v1/graphs/namespaces", EVERYBODY)],
    "GET /v1/graphs/items": [
        get("/v1/graphs/items", EVERYBODY),
        get(f"/v1/graphs/items?namespace={{word}}&{SUBJECT}", EVERYBODY, names_rows=False),
    ],
    "GET /v1/graphs/items/{item_id}": [get("/v1/graphs/items/{graph_item}", EVERYBODY)],
    "GET /v1/histories": [
        get("/v1/histories", HOSTS),
        get("/v1/histories?scope={word}-scope", HOSTS, names_rows=False),
    ],
    "GET /v1/histories/{history_id}": [get("/v1/histories/{history}", HOSTS)],
    "GET /v1/histories/{history_id}/entries": [
        get("/v1/histories/{history}/entries", HOSTS),
        get("/v1/histories/{history}/entries?limit=1", HOSTS),
    ],
    "GET /v1/sessions": [
        get("/v1/sessions", HOSTS),
        get("/v1/sessions?application=desk", HOSTS),
    ],
    "GET /v1/sessions/states": [get("/v1/sessions/states", HOSTS)],
    "GET /v1/sessions/{session_id}": [get("/v1/sessions/{session}", HOSTS)],
    "GET /v1/sessions/{session_id}/events": [get("/v1/sessions/{session}/events", HOSTS)],
    "GET /v1/branches": [
        get("/v1/branches", EVERYBODY),
        get("/v1/branches?workflow_id=any", EVERYBODY),
    ],
    "DELETE /v1/graphs/items/{item_id}": [delete("/v1/graphs/items/{graph_item}", WRITERS)],
    "DELETE /v1/graphs/items": [
        delete(f"/v1/graphs/items?namespace={{word}}.more&{SUBJECT}", WRITERS)
    ],
    "DELETE /v1/graphs/threads": [delete(f"/v1/graphs/threads?{THREAD}", WRITERS)],
    "DELETE /v1/histories/{history_id}": [delete("/v1/histories/{history}", PEOPLE)],
    "DELETE /v1/sessions/{session_id}": [delete("/v1/sessions/{session}", PEOPLE)],
    "DELETE /v1/sessions/states": [
        delete("/v1/sessions/states?application=desk&person={user}", PEOPLE)
    ],
    "DELETE /v1/branches": [
        delete("/v1/branches?workflow_id={flow}&agent_id={agent}&name={word}-way", WRITERS)
    ],
}
