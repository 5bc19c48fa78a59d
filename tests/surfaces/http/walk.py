"""One call of every operation, with the rows of a given organization: what the walks go through."""

from collections.abc import Awaitable, Callable

import httpx

from memoranda.files.body import hash_of
from tests.surfaces.http.house import Api, Rows, policy
from tests.surfaces.http.steps import (
    ANYBODY,
    EVERYBODY,
    OPERATOR,
    OWNER,
    PEOPLE,
    READERS,
    WRITERS,
    Step,
    get,
    patch,
    post,
    put,
    subject,
)
from tests.surfaces.http.walk_chats import CHATS
from tests.surfaces.http.walk_kept import KEPT

__all__ = ["ANYBODY", "STEPS", "Step"]

BUNDLED = "all-MiniLM-L6-v2-int8"
NO_TEXT = hash_of("")
"""The hash of a file that nobody has written."""


def brief(named: Callable[[Rows], dict[str, object]]) -> Step:
    """A brief that names a row."""
    return post(
        "/v1/briefs", EVERYBODY, lambda rows: {"query": "Q", **named(rows)}, names_rows=True
    )


def upload(api: Api, rows: Rows) -> Awaitable[httpx.Response]:
    files = {"file": ("a.md", "# Plants\n\nThey grow.\n")}
    return api.post("/v1/knowledge/sources", files=files, data={"title": "Plants"})


def taken_in(named: Callable[[Rows], dict[str, str]], *, names_rows: bool) -> Step:
    """An import of one line, whose query names rows or none."""
    return Step(
        lambda api, rows: api.post(
            "/v1/memories/import", content=b"Likes plants.\n", params=named(rows)
        ),
        names_rows,
        PEOPLE,
    )


def call(
    tool: str,
    roles: frozenset[str],
    arguments: Callable[[Rows], dict[str, object]],
    *,
    names_rows: bool = False,
) -> Step:
    """A call of a tool, with the arguments that the rows make."""
    return post(
        f"/v1/tools/{tool}",
        roles,
        lambda rows: {"arguments": arguments(rows)},
        names_rows=names_rows,
    )


def file(method: str, path: str, roles: frozenset[str], body: str, *, text: bool = False) -> Step:
    """What a file is to say, made from nothing, or from the `text` that the house wrote."""

    def changed(api: Api, rows: Rows) -> Awaitable[httpx.Response]:
        read = hash_of(rows.file) if text else NO_TEXT
        sent = {"body": body, "expected_hash": read}
        return api.send(method, path.format(**vars(rows)), json=sent)

    return Step(changed, "{" in path, roles)


def saved(api: Api, rows: Rows) -> Awaitable[httpx.Response]:
    """The whole list of a conversation, saved over what was loaded."""
    return _saved(api, f"/v1/conversations/{rows.conversation}/")


async def _saved(api: Api, path: str) -> httpx.Response:
    loaded = await api.get(f"{path}load")
    if not loaded.is_success:
        return loaded
    said = {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]}
    known = loaded.json() if loaded.content else {"messages": [], "fence": 0}
    sent = {"messages": [*known["messages"], said], "fence": known["fence"]}
    return await api.send("PUT", f"{path}messages", json=sent)


async def compacted(api: Api, rows: Rows) -> httpx.Response:
    """A compaction of a conversation that has enough to compact."""
    path = f"/v1/conversations/{rows.conversation}"
    told = [("user", "What grows? " * 400), ("assistant", "Plants. " * 400), ("user", "Which?")]
    messages = [{"role": role, "content": text} for role, text in told]
    longer = await api.post(f"{path}/messages", {"messages": messages})
    return longer if longer.is_error else await api.post(f"{path}/compact", {"keep_turns": 1})


FLOW = {"workflow_id": "new-flow"}
HELLO = {"messages": [{"role": "user", "content": "Hello"}]}


# Of every tool that there is.
TOOLS: dict[str, Step] = {
    "remember": call("remember", WRITERS, lambda _: {"content": "Waters on Mondays."}),
    "recall": call("recall", EVERYBODY, lambda rows: {"query": "memory"}),
    "list": call("list", EVERYBODY, lambda _: {}),
    "get": call("get", EVERYBODY, lambda rows: {"memory_id": rows.memory}, names_rows=True),
    "update": call(
        "update",
        WRITERS,
        lambda rows: {
            "memory_id": rows.agents_memory,
            "expected_version": 1,
            "patch": {"title": "Plants"},
        },
        names_rows=True,
    ),
    "forget": call(
        "forget",
        WRITERS,
        lambda rows: {"memory_id": rows.spare_memory, "expected_version": 1},
        names_rows=True,
    ),
    "search_knowledge": call("search_knowledge", EVERYBODY, lambda _: {"query": "grows in spring"}),
    "search_conversations": call("search_conversations", EVERYBODY, lambda _: {"query": "hello"}),
    "build_brief": call("build_brief", EVERYBODY, lambda _: {"query": "What grows?"}),
    "get_context_file": call("get_context_file", EVERYBODY, lambda _: {"slug": "people"}),
    # An agent's call is a proposal.
    "update_context_file": call(
        "update_context_file",
        OWNER | {"agent"},
        lambda _: {"slug": "organization", "body": "A nursery.", "expected_hash": NO_TEXT},
    ),
    # The same again: they stay as they are.
    "update_notes": call(
        "update_notes",
        frozenset({"agent"}),
        lambda rows: {"body": rows.file, "expected_hash": hash_of(rows.file)},
    ),
    "get_file_load": call("get_file_load", EVERYBODY, lambda _: {"slug": "people"}),
    "get_context_load": call("get_context_load", frozenset({"agent"}), lambda _: {}),
}

# Deletions stand last: the walks go through the steps in this order.
STEPS: dict[str, list[Step]] = {
    "GET /healthz": [get("/healthz", ANYBODY)],
    "GET /readyz": [get("/readyz", ANYBODY)],
    "POST /v1/organizations": [post("/v1/organizations", OPERATOR, lambda _: {"name": "New"})],
    "GET /v1/organizations": [get("/v1/organizations", OPERATOR)],
    "POST /v1/users": [post("/v1/users", OWNER, lambda _: {"name": "Ada"})],
    "GET /v1/users": [get("/v1/users", READERS)],
    "GET /v1/users/{user}": [
        get("/v1/users/{user}", EVERYBODY),
        get("/v1/users/{word}-user", EVERYBODY),
    ],
    "POST /v1/agents": [post("/v1/agents", OWNER, lambda _: {"slug": "scout"})],
    "GET /v1/agents": [get("/v1/agents", EVERYBODY)],
    "GET /v1/agents/{agent}": [
        get("/v1/agents/{agent}", EVERYBODY),
        get("/v1/agents/{word}-agent", EVERYBODY),
        get("/v1/agents/{word}-external", EVERYBODY),
    ],
    "POST /v1/keys": [
        post("/v1/keys", OWNER, lambda _: {"role": "read_only"}),
        post(
            "/v1/keys",
            OWNER,
            lambda rows: {"role": "member", "user_id": rows.user},
            names_rows=True,
        ),
        post(
            "/v1/keys",
            OWNER,
            lambda rows: {"role": "agent", "agent_id": rows.agent},
            names_rows=True,
        ),
    ],
    "GET /v1/keys": [get("/v1/keys", READERS | OPERATOR)],
    "POST /v1/runs": [
        post("/v1/runs", WRITERS, lambda _: {"input": [1]}),
        post("/v1/runs", WRITERS, subject, names_rows=True),
        post("/v1/runs", WRITERS, lambda rows: {"parent_id": rows.run}, names_rows=True),
    ],
    "GET /v1/runs": [
        get("/v1/runs", EVERYBODY),
        get("/v1/runs?status=waiting&limit=1", EVERYBODY),
    ],
    "GET /v1/runs/{run_id}": [get("/v1/runs/{run}", EVERYBODY)],
    "POST /v1/runs/{run_id}/wait": [
        post("/v1/runs/{run}/wait", WRITERS, lambda _: {"reason": "Approval."})
    ],
    "POST /v1/runs/{run_id}/resume": [post("/v1/runs/{run}/resume", WRITERS)],
    "POST /v1/runs/{run_id}/complete": [
        post(
            "/v1/runs/{run}/complete",
            WRITERS,
            lambda _: {"summary": "Done.", "refs": [{"kind": "crm.deal", "id": "1"}]},
        )
    ],
    "POST /v1/runs/{run_id}/fail": [
        post("/v1/runs/{broken_run}/fail", WRITERS, lambda _: {"reason": "It broke."})
    ],
    "POST /v1/runs/{run_id}/brief": [
        post("/v1/runs/{run}/brief", WRITERS, lambda rows: {"query": rows.word}),
        post("/v1/runs/{spare_run}/brief", WRITERS, lambda rows: {"query": rows.word}),
    ],
    "GET /v1/runs/{run_id}/block": [get("/v1/runs/{run}/block", EVERYBODY)],
    "POST /v1/runs/{run_id}/cancel": [post("/v1/runs/{spare_run}/cancel", WRITERS)],
    "POST /v1/runs/{run_id}/logs": [
        post("/v1/runs/{run}/logs", WRITERS, lambda _: {"step": "plan"})
    ],
    "GET /v1/runs/{run_id}/logs": [get("/v1/runs/{run}/logs", EVERYBODY)],
    "GET /v1/activities": [get("/v1/activities", READERS)],
    "GET /v1/events": [get("/v1/events?after=0&follow=false", EVERYBODY)],
    "POST /v1/memories": [
        post("/v1/memories", PEOPLE, lambda _: {"text": "Tea, no sugar."}),
        post(
            "/v1/memories",
            PEOPLE,
            lambda rows: {"text": "Likes rain.", "user_id": rows.user},
            names_rows=True,
        ),
        post(
            "/v1/memories",
            PEOPLE,
            lambda rows: {"text": "Writes short letters.", "agent_id": rows.agent},
            names_rows=True,
        ),
    ],
    "GET /v1/memories": [
        get("/v1/memories", EVERYBODY),
        get("/v1/memories?status=forgotten", EVERYBODY),
        get("/v1/memories?pinned_only=true&oldest_first=true", EVERYBODY),
        get("/v1/memories?as_of=2026-01-01T00:00:00Z", PEOPLE | READERS),
    ],
    "POST /v1/memories/search": [
        post("/v1/memories/search", EVERYBODY, lambda _: {"query": "memory"}),
        post(
            "/v1/memories/search",
            EVERYBODY,
            lambda rows: {"query": rows.word, "user_id": rows.user},
        ),
    ],
    "POST /v1/memories/recall": [
        post("/v1/memories/recall", EVERYBODY, lambda _: {"query": "memory"}),
        post(
            "/v1/memories/recall",
            WRITERS,
            lambda rows: {"query": rows.word, "run_id": rows.run},
            names_rows=True,
        ),
    ],
    "GET /v1/memories/export": [
        get("/v1/memories/export", EVERYBODY),
        get("/v1/memories/export?history=true", EVERYBODY),
    ],
    "POST /v1/memories/import": [
        taken_in(lambda _: {"source": "chatgpt"}, names_rows=False),
        taken_in(lambda rows: {"user_id": rows.user}, names_rows=True),
        taken_in(lambda rows: {"agent_id": rows.agent, "dry_run": "true"}, names_rows=True),
    ],
    "GET /v1/memories/stats": [get("/v1/memories/stats", EVERYBODY)],
    "PATCH /v1/memories/{memory_id}": [
        patch("/v1/memories/{memory}", PEOPLE, lambda rows: {"text": f"{rows.word} corrected"}),
        patch("/v1/memories/{memory}", PEOPLE, lambda _: {"title": "Plants", "pinned": True}),
    ],
    "POST /v1/memories/{memory_id}/restore": [post("/v1/memories/{forgotten}/restore", PEOPLE)],
    "POST /v1/memories/proposals": [
        post("/v1/memories/proposals", WRITERS, lambda _: {"text": "Prefers tea."}),
        post(
            "/v1/memories/proposals",
            WRITERS,
            lambda rows: {"text": "Prefers rain.", **subject(rows)},
            names_rows=True,
        ),
    ],
    "GET /v1/memories/proposals": [
        get("/v1/memories/proposals", EVERYBODY),
        get("/v1/memories/proposals?status=discarded", EVERYBODY),
    ],
    "GET /v1/memories/proposals/{proposal_id}": [
        get("/v1/memories/proposals/{proposal}", EVERYBODY)
    ],
    "POST /v1/memories/proposals/{proposal_id}/accept": [
        post("/v1/memories/proposals/{proposal}/accept", PEOPLE, lambda _: {"text": "A plant."})
    ],
    "POST /v1/memories/proposals/{proposal_id}/discard": [
        post("/v1/memories/proposals/{spare}/discard", PEOPLE)
    ],
    "POST /v1/memories/proposals/{proposal_id}/restore": [
        post("/v1/memories/proposals/{discarded}/restore", PEOPLE)
    ],
    "POST /v1/memories/tidy-up": [post("/v1/memories/tidy-up", PEOPLE)],
    "GET /v1/memories/{memory_id}": [get("/v1/memories/{memory}", EVERYBODY)],
    "GET /v1/memories/{memory_id}/history": [get("/v1/memories/{memory}/history", EVERYBODY)],
    "GET /v1/tools": [get("/v1/tools", EVERYBODY)],
    "POST /v1/tools/{tool}": list(TOOLS.values()),
    "GET /v1/tools/policies": [get("/v1/tools/policies", READERS)],
    "PUT /v1/tools/policies": [
        put(
            "/v1/tools/policies",
            OWNER,
            lambda rows: {"agent": rows.agent, "tool": "remember", "decision": "ask"},
            names_rows=True,
        )
    ],
    "GET /v1/tools/approvals": [
        get("/v1/tools/approvals", EVERYBODY),
        get("/v1/tools/approvals?status=denied", EVERYBODY),
    ],
    "GET /v1/tools/approvals/{approval_id}": [get("/v1/tools/approvals/{approval}", EVERYBODY)],
    "POST /v1/tools/approvals/{approval_id}/approve": [
        post("/v1/tools/approvals/{approval}/approve", PEOPLE)
    ],
    "POST /v1/tools/approvals/{approval_id}/deny": [
        post("/v1/tools/approvals/{spare_approval}/deny", PEOPLE)
    ],
    "GET /v1/inbox": [get("/v1/inbox", EVERYBODY), get("/v1/inbox?limit=1", EVERYBODY)],
    "GET /v1/tools/calls": [get("/v1/tools/calls", EVERYBODY)],
    "GET /v1/tools/spaces": [get("/v1/tools/spaces", READERS)],
    "PUT /v1/tools/spaces": [
        put(
            "/v1/tools/spaces",
            OWNER,
            lambda _: {
                "workflow_id": "flow",
                "node_id": "node",
                "tools": ["recall"],
                "reset_policy": "clear",
            },
        ),
        put(
            "/v1/tools/spaces",
            OWNER,
            lambda rows: {
                "workflow_id": "flow",
                "node_id": "other",
                "tools": ["remember"],
                "agent": rows.agent,
            },
            names_rows=True,
        ),
    ],
    "DELETE /v1/tools/spaces/{space_id}": [
        Step(
            lambda api, rows: api.delete(f"/v1/tools/spaces/{rows.space}"),
            names_rows=True,
            roles=OWNER,
        )
    ],
    "GET /v1/state/kinds": [get("/v1/state/kinds", EVERYBODY)],
    "POST /v1/state/resolve": [
        post(
            "/v1/state/resolve",
            EVERYBODY,
            lambda _: {"refs": [{"kind": "crm.company", "id": "1"}]},
        )
    ],
    "GET /v1/dossier": [
        get("/v1/dossier", EVERYBODY),
        get("/v1/dossier?user_id={user}", EVERYBODY),
    ],
    "PUT /v1/dossier": [
        put(
            "/v1/dossier",
            OWNER,
            lambda _: {"expected_version": 1, "offers": [{"name": "Tea"}]},
        )
    ],
    "GET /v1/dossier/users/{user_id}": [get("/v1/dossier/users/{user}", EVERYBODY)],
    "PUT /v1/dossier/users/{user_id}": [
        put(
            "/v1/dossier/users/{user}",
            PEOPLE,
            lambda _: {"expected_version": 1, "text": "Waters plants."},
        )
    ],
    "POST /v1/definitions": [
        post(
            "/v1/definitions",
            OWNER,
            lambda _: {"kind": "skill", "slug": "new", "name": "New"},
        ),
        post(
            "/v1/definitions",
            OWNER,
            lambda rows: {
                "kind": "agent",
                "slug": "scout",
                "name": "Scout",
                "agent_id": rows.agent,
            },
            names_rows=True,
        ),
        post(
            "/v1/definitions",
            OWNER,
            lambda rows: {
                "kind": "skill",
                "slug": "for-one",
                "name": "For one",
                "viewers": {"user_ids": [rows.user]},
            },
            names_rows=True,
        ),
    ],
    "GET /v1/definitions": [
        get("/v1/definitions", EVERYBODY),
        get("/v1/definitions?kind=workflow", EVERYBODY),
    ],
    "GET /v1/definitions/{definition_id}": [get("/v1/definitions/{definition}", EVERYBODY)],
    "PUT /v1/definitions/{definition_id}": [
        put(
            "/v1/definitions/{definition}",
            OWNER,
            lambda _: {"expected_version": 2, "name": "Renamed"},
        )
    ],
    "POST /v1/definitions/{definition_id}/unpublish": [
        post("/v1/definitions/{definition}/unpublish", OWNER)
    ],
    "POST /v1/definitions/{definition_id}/publish": [
        post("/v1/definitions/{definition}/publish", OWNER)
    ],
    "DELETE /v1/definitions/{definition_id}": [
        Step(
            lambda api, rows: api.delete(f"/v1/definitions/{rows.definition}"),
            names_rows=True,
            roles=OWNER,
        )
    ],
    "POST /v1/policies": [
        post("/v1/policies", OWNER, lambda _: {"name": "mine", "policy": policy()})
    ],
    "GET /v1/policies": [get("/v1/policies", EVERYBODY)],
    "GET /v1/policies/{name}": [get("/v1/policies/{policy}", EVERYBODY)],
    "POST /v1/briefs": [
        post("/v1/briefs", EVERYBODY, lambda _: {"query": "What grows?", "explain": True}),
        brief(lambda rows: {"subject": {"user_id": rows.user}}),
        brief(lambda rows: {"subject": {"agent_id": rows.agent}}),
        brief(lambda rows: {"policy_name": rows.policy}),
        brief(lambda rows: {"run_id": rows.run}),
        post(
            "/v1/briefs",
            PEOPLE | READERS,
            lambda rows: {"query": "Q", "run_id": rows.run, "as_of": "2026-01-01T00:00:00Z"},
            names_rows=True,
        ),
        brief(lambda rows: {"subject": {"user_id": rows.user}, "conversation": rows.conversation}),
    ],
    "POST /v1/conversations": [
        post("/v1/conversations", WRITERS, lambda _: {}),
        post("/v1/conversations", WRITERS, subject, names_rows=True),
    ],
    "POST /v1/conversations/search": [
        post("/v1/conversations/search", EVERYBODY, lambda _: {"query": "hello"}),
        post(
            "/v1/conversations/search",
            EVERYBODY,
            lambda rows: {"query": "hello", "conversation_id": rows.conversation},
            names_rows=True,
        ),
    ],
    "GET /v1/conversations": [
        get("/v1/conversations", EVERYBODY),
        get("/v1/conversations?workflow_id={word}-flow", EVERYBODY, names_rows=False),
    ],
    "GET /v1/conversations/fidelity": [get("/v1/conversations/fidelity", EVERYBODY | OPERATOR)],
    "POST /v1/conversations/messages": [
        post("/v1/conversations/messages", WRITERS, lambda _: FLOW | HELLO),
        post(
            "/v1/conversations/messages",
            WRITERS,
            lambda rows: {"workflow_id": "other-flow", **subject(rows), **HELLO},
            names_rows=True,
        ),
    ],
    "GET /v1/conversations/load": [get("/v1/conversations/load?workflow_id=new-flow", EVERYBODY)],
    "PUT /v1/conversations/messages": [
        put("/v1/conversations/messages", WRITERS, lambda _: FLOW | HELLO | {"fence": 0})
    ],
    "GET /v1/conversations/generation": [
        get("/v1/conversations/generation?workflow_id=new-flow", EVERYBODY)
    ],
    "POST /v1/conversations/clear": [post("/v1/conversations/clear", WRITERS, lambda _: FLOW)],
    "POST /v1/conversations/reset": [post("/v1/conversations/reset", OWNER, lambda _: FLOW)],
    "POST /v1/conversations/purge": [post("/v1/conversations/purge", OWNER, lambda _: FLOW)],
    "GET /v1/conversations/usage": [
        get("/v1/conversations/usage", EVERYBODY),
        get("/v1/conversations/usage?workflow_id=new-flow", READERS),
    ],
    "GET /v1/conversations/{conversation_id}": [get("/v1/conversations/{conversation}", EVERYBODY)],
    "POST /v1/conversations/{conversation_id}/messages": [
        post(
            "/v1/conversations/{conversation}/messages",
            WRITERS,
            lambda _: {"messages": [{"role": "user", "content": "Hello"}]},
        )
    ],
    "GET /v1/conversations/{conversation_id}/messages": [
        get("/v1/conversations/{conversation}/messages", EVERYBODY)
    ],
    "GET /v1/conversations/{conversation_id}/load": [
        get("/v1/conversations/{conversation}/load", EVERYBODY)
    ],
    "PUT /v1/conversations/{conversation_id}/messages": [
        Step(saved, names_rows=True, roles=WRITERS)
    ],
    "PUT /v1/conversations/{conversation_id}/messages/{position}/pin": [
        put("/v1/conversations/{conversation}/messages/1/pin", WRITERS, lambda _: None)
    ],
    "DELETE /v1/conversations/{conversation_id}/messages/{position}/pin": [
        Step(
            lambda api, rows: api.delete(f"/v1/conversations/{rows.conversation}/messages/1/pin"),
            names_rows=True,
            roles=WRITERS,
        )
    ],
    "POST /v1/conversations/{conversation_id}/compact": [
        Step(compacted, names_rows=True, roles=WRITERS)
    ],
    "POST /v1/conversations/{conversation_id}/compact-if-due": [
        post(
            "/v1/conversations/{conversation}/compact-if-due",
            WRITERS,
            lambda _: {"window": 200_000},
        )
    ],
    "GET /v1/conversations/{conversation_id}/compactions": [
        get("/v1/conversations/{conversation}/compactions", EVERYBODY)
    ],
    "GET /v1/conversations/{conversation_id}/history": [
        get("/v1/conversations/{conversation}/history", EVERYBODY)
    ],
    "GET /v1/conversations/{conversation_id}/pressure": [
        get("/v1/conversations/{conversation}/pressure?window=8000&room=1000", EVERYBODY)
    ],
    "POST /v1/conversations/{conversation_id}/usage": [
        post(
            "/v1/conversations/{conversation}/usage",
            WRITERS,
            lambda _: {"provider": "anthropic", "model": "m", "input_tokens": 5},
        )
    ],
    "GET /v1/conversations/{conversation_id}/usage": [
        get("/v1/conversations/{conversation}/usage", EVERYBODY)
    ],
    "POST /v1/knowledge/sources": [Step(upload, False, OWNER)],
    "GET /v1/knowledge/sources": [get("/v1/knowledge/sources", EVERYBODY | OPERATOR)],
    "GET /v1/knowledge/sources/{source_id}": [
        get("/v1/knowledge/sources/{source}", EVERYBODY),
        get("/v1/knowledge/sources/{failed_source}", EVERYBODY),
    ],
    "POST /v1/knowledge/search": [
        post("/v1/knowledge/search", EVERYBODY, lambda _: {"query": "grows in spring"})
    ],
    "GET /v1/knowledge/model": [
        get("/v1/knowledge/model", EVERYBODY),
        get("/v1/knowledge/model?platform=true", OPERATOR),
    ],
    "POST /v1/knowledge/model": [
        post("/v1/knowledge/model", OWNER, lambda _: {"model": BUNDLED}),
        post("/v1/knowledge/model", OPERATOR, lambda _: {"model": BUNDLED, "platform": True}),
    ],
    "DELETE /v1/knowledge/model": [
        Step(lambda api, _: api.delete("/v1/knowledge/model"), False, OWNER),
        Step(lambda api, _: api.delete("/v1/knowledge/model?platform=true"), False, OPERATOR),
    ],
    "PUT /v1/knowledge/sources/{source_id}/summary": [
        put(
            "/v1/knowledge/sources/{source}/summary",
            OWNER,
            lambda _: {"summary": "About plants."},
        )
    ],
    "POST /v1/knowledge/sources/{source_id}/retry": [
        post("/v1/knowledge/sources/{failed_source}/retry", OWNER)
    ],
    "DELETE /v1/knowledge/sources/{source_id}": [
        Step(
            lambda api, rows: api.delete(f"/v1/knowledge/sources/{rows.source}"),
            names_rows=True,
            roles=OWNER,
        )
    ],
    "GET /v1/context-files": [get("/v1/context-files", EVERYBODY)],
    "GET /v1/context-files/{slug}": [
        get("/v1/context-files/voice", EVERYBODY),
        get("/v1/context-files/people", EVERYBODY),
    ],
    "PUT /v1/context-files/{slug}": [
        file("PUT", "/v1/context-files/voice", OWNER, "Short and warm.", text=True)
    ],
    "PATCH /v1/context-files/{slug}/load-mode": [
        patch("/v1/context-files/people/load-mode", OWNER, lambda _: {"load_mode": "always"})
    ],
    "GET /v1/context-files/{slug}/revisions": [
        get("/v1/context-files/voice/revisions", EVERYBODY),
        get("/v1/context-files/voice/revisions?before=2&limit=1", EVERYBODY),
    ],
    "GET /v1/context-files/{slug}/revisions/{number}": [
        get("/v1/context-files/voice/revisions/1", EVERYBODY)
    ],
    "GET /v1/context-files/{slug}/as-of": [
        get("/v1/context-files/voice/as-of?time=2199-01-01T00:00:00Z", EVERYBODY)
    ],
    "POST /v1/context-files/{slug}/revisions/{number}/restore": [
        post("/v1/context-files/voice/revisions/1/restore", OWNER)
    ],
    "DELETE /v1/context-files/{slug}/revisions/{number}": [
        Step(lambda api, _: api.delete("/v1/context-files/voice/revisions/1"), False, OWNER)
    ],
    "POST /v1/context-files/{slug}/proposals": [
        file("POST", "/v1/context-files/roster/proposals", WRITERS, "Ada, Ben.")
    ],
    "GET /v1/agents/{agent}/files": [
        get("/v1/agents/{agent}/files", EVERYBODY),
        get("/v1/agents/{word}-agent/files", EVERYBODY),
    ],
    "GET /v1/agents/{agent}/files/{name}": [get("/v1/agents/{agent}/files/NOTES.md", EVERYBODY)],
    "PUT /v1/agents/{agent}/files/{name}": [
        file("PUT", "/v1/agents/{agent}/files/SOUL.md", OWNER, "Calm."),
        file(
            *("PUT", "/v1/agents/{agent}/files/NOTES.md"),
            OWNER | {"agent"},
            "Ask first.",
            text=True,
        ),
    ],
    "GET /v1/agents/{agent}/files/{name}/revisions": [
        get("/v1/agents/{agent}/files/NOTES.md/revisions", EVERYBODY)
    ],
    "GET /v1/agents/{agent}/files/{name}/revisions/{number}": [
        get("/v1/agents/{agent}/files/NOTES.md/revisions/1", EVERYBODY)
    ],
    "GET /v1/agents/{agent}/files/{name}/as-of": [
        get("/v1/agents/{agent}/files/NOTES.md/as-of?time=2199-01-01T00:00:00Z", EVERYBODY)
    ],
    "POST /v1/agents/{agent}/files/{name}/revisions/{number}/restore": [
        post("/v1/agents/{agent}/files/NOTES.md/revisions/1/restore", OWNER | {"agent"})
    ],
    "DELETE /v1/agents/{agent}/files/{name}/revisions/{number}": [
        Step(
            lambda api, rows: api.delete(f"/v1/agents/{rows.agent}/files/NOTES.md/revisions/1"),
            names_rows=True,
            roles=OWNER,
        )
    ],
    "POST /v1/agents/{agent}/files/{name}/proposals": [
        file("POST", "/v1/agents/{agent}/files/TOOLS.md/proposals", WRITERS, "Use few.")
    ],
    "POST /v1/runs/{run_id}/instructions": [
        post("/v1/runs/{run}/instructions", WRITERS, lambda _: {"query": "grows in spring"}),
    ],
    "GET /v1/runs/{run_id}/instructions": [
        get("/v1/runs/{run}/instructions", EVERYBODY),
        get("/v1/runs/{run}/instructions?stage=0", EVERYBODY),
    ],
    "GET /v1/agents/{agent}/instructions": [get("/v1/agents/{agent}/instructions", EVERYBODY)],
    "PUT /v1/agents/{agent}/instructions": [
        put(
            "/v1/agents/{agent}/instructions",
            OWNER,
            lambda _: {"capabilities": "Reads letters.", "skills_cap": 2_000},
        )
    ],
    "GET /v1/agents/{agent}/skills": [get("/v1/agents/{agent}/skills", EVERYBODY)],
    "PUT /v1/agents/{agent}/skills/{definition_id}": [
        put("/v1/agents/{agent}/skills/{skill}", OWNER, lambda _: {"priority": 3})
    ],
    "DELETE /v1/agents/{agent}/skills/{definition_id}": [
        Step(
            lambda api, rows: api.delete(f"/v1/agents/{rows.agent}/skills/{rows.skill}"),
            names_rows=True,
            roles=OWNER,
        )
    ],
    "GET /v1/agents/{agent}/context-load": [get("/v1/agents/{agent}/context-load", EVERYBODY)],
    "POST /v1/agents/{agent}/context-load": [
        post(
            "/v1/agents/{agent}/context-load",
            EVERYBODY,
            lambda rows: {"query": "spring", "user_id": rows.user},
        )
    ],
    "GET /v1/context-files/{slug}/load-report": [
        get("/v1/context-files/voice/load-report", EVERYBODY),
        get("/v1/context-files/people/load-report?preview=true", EVERYBODY),
    ],
    "POST /v1/context-files/{slug}/load-report": [
        post("/v1/context-files/voice/load-report", EVERYBODY, lambda _: {"body": "Short."})
    ],
    "GET /v1/context-files/{slug}/ask": [get("/v1/context-files/voice/ask", EVERYBODY)],
    "GET /v1/agents/{agent}/files/{name}/load-report": [
        get("/v1/agents/{agent}/files/NOTES.md/load-report", EVERYBODY),
        get("/v1/agents/{agent}/files/agent.yml/load-report", EVERYBODY),
    ],
    "POST /v1/agents/{agent}/files/{name}/load-report": [
        post(
            "/v1/agents/{agent}/files/TOOLS.md/load-report?preview=true",
            EVERYBODY,
            lambda _: {"body": "Use few."},
        )
    ],
    "GET /v1/agents/{agent}/files/{name}/ask": [
        get("/v1/agents/{agent}/files/NOTES.md/ask", EVERYBODY)
    ],
    "GET /v1/file-proposals": [
        get("/v1/file-proposals", EVERYBODY),
        get("/v1/file-proposals?status=applied", EVERYBODY),
    ],
    "GET /v1/file-proposals/{proposal_id}": [get("/v1/file-proposals/{file_change}", EVERYBODY)],
    "POST /v1/file-proposals/{proposal_id}/apply": [
        post("/v1/file-proposals/{file_change}/apply", OWNER)
    ],
    "POST /v1/file-proposals/{proposal_id}/discard": [
        post("/v1/file-proposals/{spare_file_change}/discard", OWNER)
    ],
    **CHATS,
    **KEPT,
    "POST /v1/conversations/{conversation_id}/clear": [
        post("/v1/conversations/{conversation}/clear", WRITERS)
    ],
    "DELETE /v1/conversations/{conversation_id}": [
        Step(
            lambda api, rows: api.delete(f"/v1/conversations/{rows.conversation}"),
            names_rows=True,
            roles=OWNER,
        )
    ],
    "POST /v1/memories/{memory_id}/forget": [post("/v1/memories/{memory}/forget", PEOPLE)],
    "POST /v1/memories/{memory_id}/erase": [post("/v1/memories/{memory}/erase", OWNER)],
    "POST /v1/memories/erase-user": [
        post(
            "/v1/memories/erase-user",
            OWNER,
            lambda rows: {"user_id": rows.user},
            names_rows=True,
        )
    ],
    "POST /v1/memories/forget-all": [
        post("/v1/memories/forget-all", OWNER, lambda _: {"confirm": "FORGET ALL"})
    ],
    "POST /v1/keys/{key_id}/revoke": [post("/v1/keys/{key}/revoke", OWNER)],
}
