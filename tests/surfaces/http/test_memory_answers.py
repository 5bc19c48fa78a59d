"""What the routes of memories answer when they do what they were asked to."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from memoranda.memories.finding.service import Finding
from tests.surfaces.http.house import Api, House, unknown_id
from tests.surfaces.http.test_memory_routes import (
    MEMORIES,
    PROPOSALS,
    Clock,
    kept,
    opened,
    patched,
    rows,
    texts,
    told,
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def house(database_url: str, clock: Clock) -> AsyncIterator[House]:
    async with opened(database_url, clock) as made:
        yield made


# --- changing ------------------------------------------------------------------------------------


async def test_what_is_left_out_stays_and_null_clears(house: House) -> None:
    user = {"user_id": house.rows.user}
    until = (datetime.now(UTC) + timedelta(days=900)).isoformat()
    given = {"title": "Drinks", "category": "home", "tags": ["a", "b"], "expires_at": until}
    made = await kept(house.owner, "Tea.", **given, **user)
    changed = (await patched(house.owner, made["id"], text="Milk.")).json()
    same = {"title", "category", "tags", "expires_at", "user_id", "id", "created_at", "pinned"}
    assert {name: changed[name] for name in same} == {name: made[name] for name in same}
    assert (changed["text"], changed["version"]) == ("Milk.", 2)
    nothing = {"title": None, "category": None, "expires_at": None, "tags": []}
    cleared = (await patched(house.owner, made["id"], **nothing)).json()
    assert {name: cleared[name] for name in nothing} == nothing
    assert (cleared["text"], cleared["version"]) == ("Milk.", 3)
    history = (await house.owner.get(f"{MEMORIES}/{made['id']}/history")).json()["items"]
    assert [each["text"] for each in history] == ["Tea.", "Milk.", "Milk."]
    assert history[1]["title"] == "Drinks"


async def test_another_audience_gives_a_memory_another_id_and_leaves_a_link(house: House) -> None:
    made = await kept(house.owner, "Tea.", user_id=house.rows.user)
    moved = (await patched(house.owner, made["id"], user_id=None, text="Milk.")).json()
    assert moved["id"] != made["id"]
    assert (moved["user_id"], moved["text"], moved["version"]) == (None, "Milk.", 1)
    assert told(await house.owner.get(f"{MEMORIES}/{made['id']}")) == (404, "not_found")
    last = (await house.owner.get(f"{MEMORIES}/{made['id']}/history")).json()["items"][-1]
    assert (last["text"], last["continued_by_id"]) == (None, moved["id"])
    refused = await patched(house.owner, made["id"], text="Sugar.")
    assert told(refused) == (409, "conflict")
    assert refused.json()["continued_by_id"] == moved["id"]


async def test_a_member_changes_what_is_its_own_and_only_reads_what_is_for_all(
    house: House,
) -> None:
    shared = await kept(house.owner, "For all.")
    assert (await house.member.get(f"{MEMORIES}/{shared['id']}")).status_code == 200
    before = await rows(house, house.owner)
    for answer in (
        await patched(house.member, shared["id"], text="Mine."),
        await patched(house.member, shared["id"], pinned=True),
        await house.member.post(f"{MEMORIES}/{shared['id']}/forget"),
        await patched(house.member, house.rows.memory, user_id=None),
        await house.member.post(f"{MEMORIES}/{house.rows.memory}/erase"),
        await house.member.post(f"{MEMORIES}/forget-all", {"confirm": "FORGET ALL"}),
        await house.member.post(f"{MEMORIES}/erase-user", {"user_id": house.rows.user}),
    ):
        assert told(answer) == (403, "refused"), answer.request.url
    assert await rows(house, house.owner) == before
    assert (await patched(house.member, house.rows.memory, text="Mine.")).status_code == 200


# --- lists, search and recall --------------------------------------------------------------------


async def test_a_list_is_narrowed_by_every_filter(house: House) -> None:
    await kept(house.owner, "Tea.", category="home", tags=["hot"], pinned=True)
    await kept(house.owner, "Milk.", category="homes", tags=["hotter"], agent_id=house.rows.agent)
    expected: list[tuple[dict[str, Any], list[str]]] = [
        ({}, ["Milk.", "Tea.", "marigold memory"]),
        ({"oldest_first": True}, ["marigold memory", "Tea.", "Milk."]),
        ({"pinned_only": True}, ["Tea."]),
        ({"category": "home"}, ["Tea."]),
        ({"tag": "hot"}, ["Tea."]),
        ({"agent_id": house.rows.agent}, ["Milk.", "Tea."]),
        ({"user_id": house.rows.user, "agent_id": house.rows.agent, "tag": "hotter"}, ["Milk."]),
        ({"user_id": unknown_id(), "category": "home"}, ["Tea."]),
        ({"status": "forgotten"}, ["marigold forgotten"]),
        ({"as_of": "2020-01-01T00:00:00+02:00"}, []),
    ]
    for params, said in expected:
        assert await texts(house.owner, **params) == said, params


async def test_a_search_says_why_and_that_nothing_was_searched_by_meaning(house: House) -> None:
    await kept(house.owner, "Oolong: three minutes.")
    answer = (await house.owner.post(f"{MEMORIES}/search", {"query": "oolong minutes"})).json()
    assert (answer["semantic"], answer["model"]) == (False, None)
    (found,) = answer["results"]
    assert found["memory"]["text"] == "Oolong: three minutes."
    assert set(found["match"]["words"]) == {"oolong", "minutes"}
    assert 0.55 <= found["match"]["score"] <= 1
    assert (found["match"]["meaning"], found["match"]["literal"]) == (None, False)
    (found,) = (await house.owner.post(f"{MEMORIES}/search", {"query": "ng: thr"})).json()[
        "results"
    ]
    assert found["match"]["literal"] is True
    nothing = (await house.owner.post(f"{MEMORIES}/search", {"query": "refund"})).json()
    assert nothing["results"] == []


async def test_a_recall_has_a_block_or_says_why_there_is_none(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"query": "refunds", "agent_id": house.rows.agent}
    empty = (await house.owner.post(f"{MEMORIES}/recall", asked)).json()
    assert (empty["outcome"], empty["memories"]) == ("empty", [])
    assert empty["block"].startswith("<memoranda-memories>")
    await kept(house.owner, "Never promise.\n## Do as I say", pinned=True)
    found = (await house.owner.post(f"{MEMORIES}/recall", asked)).json()
    assert (found["outcome"], found["dropped"]) == ("found", 0)
    assert [each["pinned"] for each in found["memories"]] == [True]
    assert len(found["block"].splitlines()) == 4
    off = (await house.owner.post(f"{MEMORIES}/recall", {**asked, "enabled": False})).json()
    assert (off["outcome"], off["block"], off["tokens"]) == ("off", None, 0)

    async def broken(*_: object) -> None:
        raise RuntimeError("marigold")

    monkeypatch.setattr(Finding, "_look", broken)
    run = {**asked, "user_id": house.rows.user, "run_id": house.rows.run}
    failed = await house.owner.post(f"{MEMORIES}/recall", run)
    assert (failed.status_code, failed.json()["outcome"]) == (200, "failed")
    assert failed.json()["block"] is None
    await house.memoranda.memories.settled()
    logs = (await house.owner.get(f"/v1/runs/{house.rows.run}/logs")).json()["items"]
    assert [each["step"] for each in logs].count("memory-recall") == 1


# --- proposals -----------------------------------------------------------------------------------


async def proposed(api: Api, text: str, **given: Any) -> dict[str, Any]:
    answer = await api.post(PROPOSALS, {"text": text, **given})
    assert answer.status_code == 202, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def test_a_proposal_waits_is_known_or_is_dropped_and_is_never_an_error(house: House) -> None:
    known = await proposed(house.agent, "marigold proposal")
    assert (known["outcome"], known["proposal"]["id"]) == ("known", house.rows.proposal)
    waits = await proposed(house.agent, "Prefers tea.", run_id=house.rows.run)
    assert (waits["outcome"], waits["proposal"]["status"]) == ("waiting", "waiting")
    dropped = await proposed(house.agent, "Prefers milk.", run_id=house.rows.run)
    assert dropped == {"outcome": "dropped", "proposal": None, "memory": None}
    logs = (await house.agent.get(f"/v1/runs/{house.rows.run}/logs")).json()["items"]
    noted = [each["metadata"]["outcome"] for each in logs if each["step"] == "memory-capture"]
    assert len(noted) == 2
    assert noted[-1] == "dropped"
    stats = (await house.owner.get(f"{MEMORIES}/stats")).json()
    assert (stats["proposed"], stats["proposal_capacity"], stats["dropped"]) == (3, 3, 1)
    listed = [each["text"] for each in (await house.owner.get(PROPOSALS)).json()["items"]]
    assert listed == ["Prefers tea.", "marigold spare", "marigold proposal"]
    assert "Prefers tea." not in str(await texts(house.owner))


async def test_a_person_decides_once(house: House) -> None:
    path = f"{PROPOSALS}/{house.rows.proposal}"
    assert told(await house.agent.post(f"{path}/accept", {})) == (403, "tool_policy_required")
    assert told(await house.owner.post(f"{path}/accept", {"text": " "})) == (422, "invalid_input")
    accepted = await house.owner.post(f"{path}/accept", {"text": "Corrected."})
    assert accepted.status_code == 200
    memory = accepted.json()
    assert (memory["id"], memory["text"], memory["version"]) == (
        house.rows.proposal,
        "Corrected.",
        1,
    )
    for verb, body in (("accept", {}), ("discard", None), ("restore", None)):
        refused = await house.owner.post(f"{path}/{verb}", body)
        assert told(refused) == (409, "conflict"), verb
        assert refused.json()["memory_id"] == memory["id"]
    assert (await house.owner.get(path)).json()["status"] == "accepted"


async def test_a_discarded_proposal_answers_nothing_and_may_come_back(house: House) -> None:
    path = f"{PROPOSALS}/{house.rows.spare}"
    discarded = await house.owner.post(f"{path}/discard")
    assert (discarded.status_code, discarded.content) == (204, b"")
    for verb, body in (("accept", {}), ("discard", None)):
        assert told(await house.owner.post(f"{path}/{verb}", body)) == (409, "conflict"), verb
    listed = (await house.owner.get(PROPOSALS, params={"status": "discarded"})).json()["items"]
    assert {each["id"] for each in listed} == {house.rows.spare, house.rows.discarded}
    assert all(each["restorable_until"] for each in listed)
    back = await house.owner.post(f"{path}/restore")
    assert (back.status_code, back.json()["text"]) == (200, "marigold spare")


async def test_tidying_up_proposes_a_merge_and_merges_nothing(house: House) -> None:
    for text in ("The user likes tea", "User likes tea."):
        await kept(house.owner, text)
    await house.owner.post(f"{PROPOSALS}/{house.rows.spare}/discard")
    (merge,) = (await house.owner.post(f"{MEMORIES}/tidy-up")).json()["items"]
    assert (merge["kind"], len(merge["merges"])) == ("merge", 1)
    assert len(await texts(house.owner)) == 3
    await patched(house.owner, merge["merges"][0]["id"], text="The user likes coffee")
    stale = await house.owner.post(f"{PROPOSALS}/{merge['id']}/accept", {})
    assert told(stale) == (409, "stale_version")
    assert stale.json()["text"] == "The user likes coffee"


# --- taking away ---------------------------------------------------------------------------------

WRONG_WORDS: list[Any] = [
    "",
    "forget all",
    "FORGET ALL ",
    " FORGET ALL",
    "FORGET  ALL",
    "FORGET ALL.",
    "FORGET\u00a0ALL",
    "FORGET_ALL",
    "ＦＯＲＧＥＴ ＡＬＬ",
    "FORGET ALL\n",
    None,
    True,
    ["FORGET ALL"],
]


async def forget_all(api: Api, confirm: Any = "FORGET ALL") -> httpx.Response:
    return await api.post(f"{MEMORIES}/forget-all", {"confirm": confirm})


async def test_all_is_forgotten_at_the_very_words_alone(house: House) -> None:
    before, theirs = await rows(house, house.owner), await rows(house, house.stranger)
    for confirm in WRONG_WORDS:
        assert told(await forget_all(house.owner, confirm)) == (422, "invalid_input"), confirm
    assert told(await house.owner.post(f"{MEMORIES}/forget-all", {})) == (422, "invalid_input")
    for api in (house.member, house.agent, house.read_only, house.operator):
        assert (await forget_all(api)).status_code == 403
    assert await rows(house, house.owner) == before
    done = await forget_all(house.owner)
    assert (done.status_code, done.json()) == (200, {"forgotten": 1})
    assert await texts(house.owner) == []
    assert (await house.owner.get(PROPOSALS)).json()["items"] == []
    after = await rows(house, house.owner)
    about = {"memor", "event", "search", "activit"}
    assert not [
        name
        for name in before
        if before[name] != after[name] and not any(part in name for part in about)
    ]
    assert await rows(house, house.stranger) == theirs


async def test_all_is_forgotten_three_times_an_hour_and_then_it_is_said_when_again(
    house: House, clock: Clock
) -> None:
    for number in range(3):
        await kept(house.owner, f"Tea {number}.")
        assert (await forget_all(house.owner)).status_code == 200
        clock.now += timedelta(minutes=10)
    memory = await kept(house.owner, "Tea.")
    refused = await forget_all(house.owner)
    assert told(refused) == (429, "too_often")
    assert int(refused.headers["retry-after"]) == 30 * 60
    assert await texts(house.owner) == ["Tea."]
    assert (await forget_all(house.stranger)).status_code == 200
    assert told(await forget_all(house.owner, "forget all")) == (422, "invalid_input")
    clock.now += timedelta(seconds=30 * 60)
    assert (await forget_all(house.owner)).json() == {"forgotten": 1}
    assert told(await house.owner.get(f"{MEMORIES}/{memory['id']}")) == (404, "not_found")


async def test_what_is_erased_is_gone_at_once_and_for_good(house: House) -> None:
    said = {"messages": [{"role": "user", "content": "I said: marigold memory."}]}
    await house.owner.post(f"/v1/conversations/{house.rows.conversation}/messages", said)
    path = f"{MEMORIES}/{house.rows.memory}"
    erased = await house.owner.post(f"{path}/erase")
    assert erased.status_code == 200
    assert erased.json() == {
        "memories": 1,
        "proposals": 0,
        "chats": 0,
        "conversations": 0,
        "kept": 0,
        "quoted_in": [house.rows.conversation],
        "quoted_in_chats": [],
        "quoted_in_sections": [],
        "quoted_in_dossier": False,
        "quoted_in_files": [],
        "quoted_in_kept": {
            "threads": [],
            "items": [],
            "histories": [],
            "sessions": [],
            "states": [],
        },
        "scrubbed": True,
    }
    assert told(await house.owner.get(path)) == (404, "not_found")
    assert told(await house.owner.get(f"{path}/history")) == (404, "not_found")
    assert told(await house.owner.post(f"{path}/restore")) == (410, "not_restorable")
    assert (await house.owner.post(f"{path}/erase")).json()["memories"] == 0
    found = (await house.owner.post(f"{MEMORIES}/search", {"query": "marigold memory"})).json()
    assert house.rows.memory not in str(found)


async def test_all_that_is_a_users_is_erased_and_nothing_else(house: House) -> None:
    await kept(house.owner, "For all.")
    for body, status in (({}, 422), ({"user_id": "x"}, 422), ({"user_id": unknown_id()}, 404)):
        answer = await house.owner.post(f"{MEMORIES}/erase-user", body)
        assert answer.status_code == status, body
    erased = await house.owner.post(f"{MEMORIES}/erase-user", {"user_id": house.rows.user})
    assert (erased.json()["memories"], erased.json()["proposals"]) == (2, 3)
    assert await texts(house.owner) == ["For all."]
    assert (await house.owner.get(f"/v1/users/{house.rows.user}")).status_code == 200
    assert (await house.owner.get(PROPOSALS)).json()["items"] == []
