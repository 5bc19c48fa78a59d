"""The memory tool as a model calls it: whose memories it reads and writes, and what it is answered."""

from typing import Any
from uuid import UUID

import pytest

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.tools.models import Decision, ToolResult
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant

WRITERS = ("remember", "update", "forget")


@pytest.fixture
async def product(database_url: str) -> Any:
    settings = Settings.load(embedder="none", tool_reply_chars=4_000, max_memories=50)
    async with Memoranda.open(database_url, settings=settings) as opened:
        yield opened


@pytest.fixture
async def acme(product: Memoranda) -> Tenant:
    return await new_tenant(product.storage)


async def said(product: Memoranda, who: Principal, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await product.tools.call(who, tool, arguments)
    assert result.answer is not None, result.refusal
    return dict(result.answer)


async def refused(product: Memoranda, who: Principal, tool: str, **arguments: Any) -> ToolResult:
    result = await product.tools.call(who, tool, arguments)
    assert result.refusal is not None, result.answer
    return result


async def allow(product: Memoranda, acme: Tenant) -> None:
    for tool in WRITERS:
        await product.tools.policies.set(acme.owner, acme.scout.id, tool, Decision.ALLOW)


async def contents(product: Memoranda, who: Principal) -> list[str]:
    return [each["content"] for each in (await said(product, who, "list"))["memories"]]


async def test_what_is_remembered_is_listed_got_recalled_changed_and_forgotten(
    product: Memoranda, acme: Tenant
) -> None:
    anna = acme.member(acme.anna)
    made = await said(
        product,
        anna,
        "remember",
        content="  Anna takes the early train. ",
        title="Train",
        category="travel",
        tags=["train", "early"],
        expires_at="2100-01-01T09:00:00+01:00",
        attribute="preference.train",
    )
    assert (made["outcome"], made["version"]) == ("done", 1)
    got = await said(product, anna, "get", memory_id=made["memory_id"])
    assert got["content"] == "Anna takes the early train."
    assert (got["title"], got["category"], got["tags"]) == ("Train", "travel", ["train", "early"])
    assert (got["attribute"], got["expires_at"]) == ("preference.train", "2100-01-01T08:00:00Z")
    recalled = await said(product, anna, "recall", query="early train")
    assert [each["id"] for each in recalled["memories"]] == [made["memory_id"]]
    assert recalled["memories"][0]["matched"] == ["early", "train"]
    changed = await said(
        product,
        anna,
        "update",
        memory_id=made["memory_id"],
        expected_version=1,
        patch={"content": "Anna takes the late train.", "title": None, "tags": None},
    )
    assert (changed["outcome"], changed["version"]) == ("done", 2)
    got = await said(product, anna, "get", memory_id=made["memory_id"])
    assert (got["content"], got["title"], got["tags"]) == ("Anna takes the late train.", None, [])
    assert got["category"] == "travel"
    await said(product, anna, "forget", memory_id=made["memory_id"], expected_version=2)
    assert await contents(product, anna) == []
    gone = await refused(product, anna, "get", memory_id=made["memory_id"])
    assert gone.refusal is not None
    assert gone.refusal.code == "not_found"


async def test_a_memory_is_for_whom_the_caller_is_bound_to(
    product: Memoranda, acme: Tenant
) -> None:
    await allow(product, acme)
    writers = {
        "owner": (acme.owner, None, None),
        "member": (acme.member(acme.anna), acme.anna.id, None),
        "agent": (acme.key_of(acme.scout), None, acme.scout.id),
        "agent for Anna": (acme.key_of(acme.scout, acme.anna), acme.anna.id, acme.scout.id),
    }
    for name, (who, user_id, agent_id) in writers.items():
        made = await said(product, who, "remember", content=f"by the {name}")
        kept = await product.memories.get(acme.owner, UUID(made["memory_id"]))
        assert (kept.user_id, kept.agent_id) == (user_id, agent_id), name
        assert kept.origin == ("agent" if "agent" in name else "user")
    assert set(await contents(product, acme.member(acme.ben))) == {"by the owner", "by the agent"}
    assert await contents(product, acme.key_of(acme.clerk, acme.ben)) == ["by the owner"]


async def test_an_agent_changes_what_is_its_own_and_nothing_that_it_only_reads(
    product: Memoranda, acme: Tenant
) -> None:
    await allow(product, acme)
    scout = acme.key_of(acme.scout)
    shared = await product.memories.remember(acme.owner, "The office is in Ghent.")
    assert await contents(product, scout) == ["The office is in Ghent."]
    for tool, more in (("update", {"patch": {"content": "Elsewhere."}}), ("forget", {})):
        result = await refused(
            product, scout, tool, memory_id=str(shared.id), expected_version=1, **more
        )
        assert result.refusal is not None
        assert result.refusal.kind == "refused"
    assert await contents(product, acme.owner) == ["The office is in Ghent."]


async def test_an_agent_asks_before_it_writes_unless_somebody_said_otherwise(
    product: Memoranda, acme: Tenant
) -> None:
    scout = acme.key_of(acme.scout)
    made = await said(product, scout, "remember", content="Invoices go out on Mondays.")
    assert (made["outcome"], made["memory_id"]) == ("proposed", None)
    again = await said(product, scout, "remember", content="invoices go out on MONDAYS.")
    assert (again["outcome"], again["proposal_id"]) == ("known", made["proposal_id"])
    assert await contents(product, scout) == []
    assert (await said(product, scout, "recall", query="Monday invoices"))["memories"] == []
    accepted = await product.proposals.accept(acme.owner, UUID(made["proposal_id"]))
    assert await contents(product, scout) == ["Invoices go out on Mondays."]
    known = await said(product, scout, "remember", content="Invoices go out on Mondays.")
    assert (known["outcome"], known["memory_id"]) == ("known", str(accepted.id))
    asked = await said(product, scout, "forget", memory_id=str(accepted.id), expected_version=1)
    assert asked["outcome"] == "waiting"
    assert await contents(product, scout) == ["Invoices go out on Mondays."]
    await product.tools.approvals.approve(acme.owner, UUID(asked["approval_id"]))
    assert await contents(product, scout) == []


@pytest.mark.parametrize(
    "more",
    [
        {"organization_id": "x"},
        {"user_id": "x"},
        {"agent_id": "x"},
        {"space": "x"},
        {"subject_key": "x"},
    ],
)
@pytest.mark.parametrize("tool", ["remember", "recall", "list", "get", "update", "forget"])
async def test_no_argument_says_whose_memories_they_are(
    product: Memoranda, acme: Tenant, tool: str, more: dict[str, str]
) -> None:
    right: dict[str, dict[str, Any]] = {
        "remember": {"content": "x"},
        "recall": {"query": "x"},
        "list": {},
        "get": {"memory_id": str(new_id())},
        "update": {"memory_id": str(new_id()), "expected_version": 1, "patch": {"content": "y"}},
        "forget": {"memory_id": str(new_id()), "expected_version": 1},
    }
    result = await refused(product, acme.owner, tool, **right[tool], **more)
    assert result.refusal is not None
    assert result.refusal.code == "invalid_input"


async def test_a_stale_version_is_told_what_the_memory_says_now_and_changes_nothing(
    product: Memoranda, acme: Tenant
) -> None:
    made = await said(product, acme.owner, "remember", content="one")
    ids = {"memory_id": made["memory_id"]}
    await said(product, acme.owner, "update", **ids, expected_version=1, patch={"content": "two"})
    for tool, more in (("update", {"patch": {"content": "three"}}), ("forget", {})):
        result = await refused(product, acme.owner, tool, **ids, expected_version=1, **more)
        assert result.refusal is not None
        assert result.refusal.code == "stale_version"
        assert (result.refusal.details["version"], result.refusal.details["text"]) == (2, "two")
    assert await contents(product, acme.owner) == ["two"]


@pytest.mark.parametrize(("patch", "field"), [({}, "patch"), ({"content": None}, "patch.content")])
async def test_a_patch_names_something_and_empties_no_text(
    product: Memoranda, acme: Tenant, patch: dict[str, Any], field: str
) -> None:
    made = await said(product, acme.owner, "remember", content="one")
    result = await refused(
        product, acme.owner, "update", memory_id=made["memory_id"], expected_version=1, patch=patch
    )
    assert result.refusal is not None
    assert result.refusal.details["field"] == field


async def test_a_list_goes_on_where_it_ended_whatever_comes_and_goes(
    product: Memoranda, acme: Tenant
) -> None:
    made = [
        (await said(product, acme.owner, "remember", content=f"fact {number}"))["memory_id"]
        for number in range(9)
    ]
    first = await said(product, acme.owner, "list", limit=4)
    await said(product, acme.owner, "remember", content="a newer fact")
    await said(product, acme.owner, "forget", memory_id=made[5], expected_version=1)
    await said(product, acme.owner, "forget", memory_id=made[3], expected_version=1)
    second = await said(product, acme.owner, "list", limit=50, cursor=first["next_cursor"])
    seen = [each["content"] for each in (*first["memories"], *second["memories"])]
    assert seen == [f"fact {number}" for number in (8, 7, 6, 5, 4, 2, 1, 0)]
    assert second["next_cursor"] is None


async def test_what_is_recalled_page_by_page_comes_once_whatever_is_said_meanwhile(
    product: Memoranda, acme: Tenant
) -> None:
    for number in range(9):
        await said(product, acme.owner, "remember", content=f"The red box number {number} is full.")
    seen: list[str] = []
    cursor = None
    while True:
        page = await said(product, acme.owner, "recall", query="red box", limit=4, cursor=cursor)
        seen += [each["content"] for each in page["memories"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        if len(seen) == 4:
            await said(product, acme.owner, "remember", content="A red box, red box, red box.")
    assert len(seen) == len(set(seen)) == 10
    assert {each for each in seen if "number" in each} == {
        f"The red box number {number} is full." for number in range(9)
    }


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("アダは牛乳を飲みます。", "牛乳"),
        ("她喜欢喝茶。", "喝茶"),
        ("Redis缓存在三楼。", "Redis"),
        ("The disk writes 3 GB/s.", "GB/s"),
        ("Ada doesn't eat fish.", "doesn't"),
        ("memory:safe languages are preferred.", "memory:safe"),
        ("Ada said foo AND bar.", "foo AND bar"),
        ('Ada said "never.', '"never'),
    ],
)
async def test_whatever_script_or_sign_a_question_holds_is_plain_words(
    product: Memoranda, acme: Tenant, text: str, query: str
) -> None:
    await said(product, acme.owner, "remember", content="Something else.")
    await said(product, acme.owner, "remember", content=text)
    found = await said(product, acme.owner, "recall", query=query)
    assert [each["content"] for each in found["memories"]] == [text]


@pytest.mark.parametrize("tool", ["list", "recall"])
async def test_a_cursor_that_was_changed_or_is_of_another_question_is_refused(
    product: Memoranda, acme: Tenant, tool: str
) -> None:
    for number in range(3):
        await said(product, acme.owner, "remember", content=f"The red box number {number}.")
    ask = {"query": "red box"} if tool == "recall" else {}
    cursor = (await said(product, acme.owner, tool, **ask, limit=1))["next_cursor"]
    wrong = [cursor[:-1], cursor + "A", cursor[:-4] + "AAAA", "", "%", "é", "A" * 5000]
    wrong += [
        cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
        for place in (0, 9, 20)
    ]
    for each in wrong:
        result = await refused(product, acme.owner, tool, **ask, cursor=each)
        assert result.refusal is not None
        assert result.refusal.details["field"] == "cursor", each
    if tool == "recall":
        await refused(product, acme.owner, tool, query="blue box", cursor=cursor)


async def test_an_answer_is_bounded_and_goes_on_with_what_had_no_room(
    product: Memoranda, acme: Tenant
) -> None:
    for number in range(12):
        await said(product, acme.owner, "remember", content=f"box {number} " + "x" * 480)
    for tool, ask in (("list", {}), ("recall", {"query": "box"})):
        seen: list[str] = []
        cursor, pages = None, 0
        while True:
            page = await said(product, acme.owner, tool, **ask, limit=50, cursor=cursor)
            assert len(str(page["memories"])) < 6_000
            seen += [each["content"] for each in page["memories"]]
            pages, cursor = pages + 1, page["next_cursor"]
            if cursor is None:
                break
        assert pages > 1
        assert len(seen) == len(set(seen)) == 12


async def test_what_has_expired_is_nowhere(product: Memoranda, acme: Tenant) -> None:
    past = await refused(
        product, acme.owner, "remember", content="old", expires_at="2001-01-01T00:00:00Z"
    )
    assert past.refusal is not None
    assert past.refusal.kind == "invalid"


async def test_where_there_is_no_room_a_run_is_told_and_goes_on(
    product: Memoranda, acme: Tenant
) -> None:
    for number in range(50):
        await said(product, acme.owner, "remember", content=f"fact {number}")
    full = await refused(product, acme.owner, "remember", content="one too many")
    assert full.refusal is not None
    assert full.refusal.code == "memories_full"
    assert "50" in full.refusal.message
