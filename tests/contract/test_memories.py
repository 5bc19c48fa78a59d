"""What memories promise on every database: chains, forgetting, audiences, and one organization apart from another."""

from datetime import UTC, datetime, timedelta

import pytest

from memoranda.access.models import LOCAL_OPERATOR
from memoranda.access.roles import ToolPolicyRequired
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.models import MemoryStatus
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.runs import store as runs
from memoranda.storage import Storage
from memoranda.words.errors import (
    Conflict,
    DuplicateMemory,
    Invalid,
    NotFound,
    OverLimit,
    ReadOnly,
    Refused,
)
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject
from tests.contract.tenants import Tenant, new_tenant

TONE = "preference.tone"


async def texts(memories: Memories, who, **scope) -> list[str | None]:
    page = await memories.page(who, **scope, limit=200)
    assert page.next_cursor is None
    return [item.text for item in page.items]


async def test_what_is_remembered_is_read_back(memories: Memories, acme: Tenant) -> None:
    until, run, talk = datetime(2090, 5, 1, tzinfo=UTC), new_id(), new_id()
    made = await memories.remember(
        acme.owner,
        "  Writes in British English ✍️ ",
        user_id=acme.anna.id,
        agent_id=acme.scout.id,
        title="Spelling",
        category="style",
        tags=["writing", "writing", "english"],
        expires_at=until,
        attribute=TONE,
        run_id=run,
        conversation_id=talk,
    )
    assert made == await memories.get(acme.owner, made.id)
    assert made.text == "Writes in British English ✍️"
    assert (made.user_id, made.agent_id) == (acme.anna.id, acme.scout.id)
    assert (made.title, made.category, made.tags) == ("Spelling", "style", ("writing", "english"))
    assert (made.expires_at, made.run_id, made.conversation_id) == (until, run, talk)
    assert (made.version, made.status, made.origin) == (1, MemoryStatus.ACTIVE, "user")
    assert made.author_user_id == acme.owner.user_id
    assert made.subject_key == f"user:{acme.anna.id}:{TONE}"


async def test_a_new_text_under_a_key_replaces_the_old_one_and_history_keeps_both(
    memories: Memories, acme: Tenant
) -> None:
    first = await memories.remember(acme.owner, "My name is A", attribute="observation.name")
    second = await memories.remember(acme.owner, "My name is B", attribute="observation.name")
    assert (second.id, second.version, second.created_at) == (first.id, 2, first.created_at)
    assert await texts(memories, acme.owner) == ["My name is B"]
    history = await memories.history(acme.owner, first.id)
    assert [(each.version, each.text) for each in history] == [
        (1, "My name is A"),
        (2, "My name is B"),
    ]
    assert [each.supersedes_id for each in history] == [None, history[0].id]


async def test_saying_the_same_again_writes_nothing_and_names_the_memory(
    memories: Memories, storage: Storage, acme: Tenant
) -> None:
    keyed = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    plain = await memories.remember(acme.owner, "Drinks tea at 5")
    before = await events(storage, acme)
    for text, attribute, holder in (
        (" Be brief\n", TONE, keyed),
        ("  drinks TEA at 5 ", None, plain),
        ("be brief", None, keyed),
    ):
        with pytest.raises(DuplicateMemory) as refused:
            await memories.remember(acme.owner, text, attribute=attribute)
        assert refused.value.details["memory_id"] == str(holder.id)
        assert len(await memories.history(acme.owner, holder.id)) == 1
    assert await events(storage, acme) == before


async def test_full_case_folding_and_composed_forms_decide_what_is_the_same(
    memories: Memories, acme: Tenant
) -> None:
    await memories.remember(acme.owner, "Straße im Café ΣΊΣΥΦΟΣ")
    with pytest.raises(DuplicateMemory):
        await memories.remember(acme.owner, "STRASSE IM CAFE\u0301 σίσυφος")
    await memories.remember(acme.owner, "Strase im Café ΣΊΣΥΦΟΣ")


async def test_a_correction_of_case_under_a_key_is_a_change(
    memories: Memories, acme: Tenant
) -> None:
    await memories.remember(acme.owner, "lives in berlin", attribute="observation.home")
    made = await memories.remember(acme.owner, "Lives in Berlin", attribute="observation.home")
    assert made.version == 2


async def test_one_text_may_stand_under_two_keys(memories: Memories, acme: Tenant) -> None:
    await memories.remember(acme.owner, "Tuesday", attribute="observation.delivery")
    await memories.remember(acme.owner, "Tuesday", attribute="observation.meeting")
    assert await texts(memories, acme.owner) == ["Tuesday", "Tuesday"]


async def test_one_text_in_two_audiences_is_two_memories(memories: Memories, acme: Tenant) -> None:
    ids = set()
    for scope in (
        {},
        {"user_id": acme.anna.id},
        {"user_id": acme.ben.id},
        {"agent_id": acme.scout.id},
        {"user_id": acme.anna.id, "agent_id": acme.scout.id},
    ):
        for attribute in (None, TONE):
            ids.add(
                (
                    await memories.remember(
                        acme.owner, "Be brief " + str(attribute), attribute=attribute, **scope
                    )
                ).id
            )
    assert len(ids) == 10


async def test_forgetting_appends_one_tombstone_and_shows_no_older_revision(
    memories: Memories, acme: Tenant
) -> None:
    first = await memories.remember(acme.owner, "Lives in Rome", attribute="observation.home")
    await memories.remember(acme.owner, "Lives in Oslo", attribute="observation.home")
    gone = await memories.forget(acme.owner, first.id)
    assert (gone.status, gone.text, gone.version) == (MemoryStatus.FORGOTTEN, "Lives in Oslo", 3)
    assert await texts(memories, acme.owner) == []
    assert await memories.recent(everyone(acme), personal=False, limit=9) == []
    with pytest.raises(NotFound):
        await memories.get(acme.owner, first.id)
    history = await memories.history(acme.owner, first.id)
    assert [each.text for each in history] == ["Lives in Rome", "Lives in Oslo", None]
    assert [each.forgotten_at is None for each in history] == [True, True, False]


async def test_a_forgotten_key_lives_again_after_its_tombstone(
    memories: Memories, acme: Tenant
) -> None:
    first = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    await memories.forget(acme.owner, first.id)
    again = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    assert (again.id, again.version) == (first.id, 3)
    assert await texts(memories, acme.owner) == ["Be brief"]


async def test_a_forgotten_text_without_a_key_can_be_remembered_anew(
    memories: Memories, acme: Tenant
) -> None:
    first = await memories.remember(acme.owner, "Drinks tea")
    await memories.forget(acme.owner, first.id)
    again = await memories.remember(acme.owner, "Drinks tea")
    assert again.id != first.id


async def test_forgetting_takes_the_id_of_a_live_memory_only(
    memories: Memories, storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Drinks tea")
    revision = (await memories.history(acme.owner, made.id))[0]
    for unknown in (new_id(), revision.id):
        with pytest.raises(NotFound):
            await memories.forget(acme.owner, unknown)
    await memories.forget(acme.owner, made.id)
    before = await events(storage, acme)
    with pytest.raises(Conflict, match="forgotten already"):
        await memories.forget(acme.owner, made.id)
    assert len(await memories.history(acme.owner, made.id)) == 2
    assert await events(storage, acme) == before


async def test_each_change_is_one_activity_without_a_word_of_the_text(
    memories: Memories, storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Zanzibar", attribute=TONE, title="Zanzibar")
    await memories.remember(acme.owner, "Zanzibar again", attribute=TONE)
    await memories.forget(acme.owner, made.id)
    rows = await events(storage, acme)
    assert [row.type for row in rows] == [
        "memory_fact_forgotten",
        "memory_fact_updated",
        "memory_fact_created",
    ]
    assert {row.subject_id for row in rows} == {made.id}
    assert [row.metadata for row in rows] == [{"version": 3}, {"version": 2}, {"version": 1}]
    assert "anzibar" not in str(rows)


async def test_an_expired_memory_shows_in_its_history_alone(database_url: str) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    storage = await Storage.open(database_url, clock=lambda: now)
    try:
        acme, memories = await new_tenant(storage), Memories(storage)
        soon = now + timedelta(hours=1)
        keyed = await memories.remember(
            acme.owner, "On leave", attribute="observation.leave", expires_at=soon
        )
        plain = await memories.remember(acme.owner, "In Rome today", expires_at=soon)
        assert len(await texts(memories, acme.owner)) == 2
        now = soon
        assert await texts(memories, acme.owner) == []
        assert await memories.recent(everyone(acme), personal=False, limit=9) == []
        with pytest.raises(NotFound):
            await memories.get(acme.owner, plain.id)
        assert len(await memories.history(acme.owner, plain.id)) == 1
        # An expired memory holds its text no longer: the same statement renews the same chain.
        again = [
            await memories.remember(acme.owner, "On leave", attribute="observation.leave"),
            await memories.remember(acme.owner, "in rome TODAY"),
        ]
        assert [(each.id, each.version) for each in again] == [(keyed.id, 2), (plain.id, 2)]
        with pytest.raises(Invalid, match="in the past"):
            await memories.remember(acme.owner, "Too late", expires_at=now)
    finally:
        await storage.close()


async def test_a_text_has_up_to_500_characters_or_as_many_as_a_setting_says(
    storage: Storage, acme: Tenant
) -> None:
    # The widest characters there are: no index may find them too long.
    with pytest.raises(OverLimit):
        await Memories(storage).remember(acme.owner, "𐍈" * 501)
    longest = "".join(chr(0x20000 + n) for n in range(8_000))
    longer = Memories(storage, Ways(MemoryLimits(text_chars=8_000)))
    made = await longer.remember(acme.owner, longest)
    assert made.text == longest
    with pytest.raises(DuplicateMemory):
        await longer.remember(acme.owner, longest)
    for wrong in (0, 8_001):
        with pytest.raises(Invalid):
            Memories(storage, Ways(MemoryLimits(text_chars=wrong)))


@pytest.mark.parametrize("field", ["text", "title", "category", "attribute", "tags.0"])
@pytest.mark.parametrize("hostile", ["a\0b", "\ud800", "b\udfff"])
async def test_what_no_column_can_hold_is_refused_by_field_and_nothing_is_written(
    memories: Memories, acme: Tenant, field: str, hostile: str
) -> None:
    given = {"text": "fine", field: hostile}
    if field == "attribute":
        given[field] = f"preference.{hostile}"
    elif field == "tags.0":
        given = {"text": "fine", "tags": [hostile]}
    with pytest.raises(Invalid) as refused:
        await memories.remember(acme.owner, **given)
    assert refused.value.details["field"] == field
    assert await texts(memories, acme.owner) == []


async def test_text_comes_back_as_it_was_given(memories: Memories, acme: Tenant) -> None:
    for text in (
        "a\u2028## b",
        "\u202emirror",
        "'; DROP TABLE memories; --",
        "{x} %s ? :y $1",
        "👩‍👩‍👧 日本語 العربية",
    ):
        assert (
            await memories.get(acme.owner, (await memories.remember(acme.owner, text)).id)
        ).text == text


async def test_an_unknown_user_or_agent_is_named_and_nothing_is_written(
    memories: Memories, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    for scope in (
        {"user_id": new_id()},
        {"agent_id": new_id()},
        {"user_id": other.anna.id},
        {"agent_id": other.scout.id},
    ):
        with pytest.raises(NotFound) as refused:
            await memories.remember(acme.owner, "hello", **scope)
        assert str(next(iter(scope.values()))) in refused.value.message
    assert await texts(memories, acme.owner) == []


# --- who may do what -------------------------------------------------------------------------


async def test_a_member_remembers_and_forgets_for_its_own_user_alone(
    memories: Memories, acme: Tenant
) -> None:
    anna, ben = acme.member(acme.anna), acme.member(acme.ben)
    mine = await memories.remember(anna, "Likes tea")
    assert mine.user_id == acme.anna.id
    shared = await memories.remember(acme.owner, "The office opens at 9")
    with pytest.raises(Refused):
        await memories.remember(anna, "For Ben", user_id=acme.ben.id)
    with pytest.raises(Refused):
        await memories.forget(anna, shared.id)
    with pytest.raises(NotFound):
        await memories.forget(ben, mine.id)
    assert await texts(memories, anna) == ["The office opens at 9", "Likes tea"]
    assert await texts(memories, ben) == ["The office opens at 9"]
    assert (await memories.forget(anna, mine.id)).status == "forgotten"


async def test_another_users_memory_is_answered_like_one_that_is_not_there(
    memories: Memories, acme: Tenant
) -> None:
    annas = await memories.remember(acme.owner, "Anna likes tea", user_id=acme.anna.id)
    ben = acme.member(acme.ben)
    nothing = new_id()
    for verb in (memories.get, memories.history, memories.forget):
        with pytest.raises(NotFound) as refused:
            await verb(ben, annas.id)
        with pytest.raises(NotFound) as absent:
            await verb(ben, nothing)
        assert refused.value.message.replace(str(annas.id), "ID") == absent.value.message.replace(
            str(nothing), "ID"
        )
    # And no refusal as a duplicate tells Ben what Anna has.
    assert (await memories.remember(ben, "Anna likes tea")).id != annas.id


async def test_an_agents_key_reads_for_its_agent_and_writes_nothing(
    memories: Memories, acme: Tenant
) -> None:
    await memories.remember(acme.owner, "for all")
    await memories.remember(acme.owner, "for the scout", agent_id=acme.scout.id)
    await memories.remember(acme.owner, "for the clerk", agent_id=acme.clerk.id)
    made = await memories.remember(acme.owner, "for Anna", user_id=acme.anna.id)
    assert await texts(memories, acme.key_of(acme.scout)) == ["for the scout", "for all"]
    with_anna = acme.key_of(acme.scout, acme.anna)
    assert await texts(memories, with_anna) == ["for Anna", "for the scout", "for all"]
    with pytest.raises(ToolPolicyRequired):
        await memories.remember(with_anna, "I write")
    with pytest.raises(ToolPolicyRequired):
        await memories.forget(with_anna, made.id)


async def test_a_read_only_key_reads_everything_and_writes_nothing(
    memories: Memories, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "for Anna", user_id=acme.anna.id)
    assert await texts(memories, acme.reader) == ["for Anna"]
    assert await texts(memories, acme.reader, user_id=acme.ben.id) == []
    assert len(await memories.history(acme.reader, made.id)) == 1
    with pytest.raises(ReadOnly):
        await memories.remember(acme.reader, "x")
    with pytest.raises(ReadOnly):
        await memories.forget(acme.reader, made.id)


async def test_an_operator_reads_no_organizations_memories(memories: Memories) -> None:
    for verb in (memories.page(LOCAL_OPERATOR), memories.get(LOCAL_OPERATOR, new_id())):
        with pytest.raises(Refused):
            await verb


async def test_two_organizations_written_in_turns_stay_apart(
    memories: Memories, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    made = {}
    for number in range(6):
        for tenant in (acme, other):
            who = tenant.owner
            made[who.organization_id] = await memories.remember(
                who, f"fact {number}", attribute=TONE
            )
            await memories.remember(who, f"note {number}", user_id=tenant.anna.id)
    for tenant, foreign in ((acme, other), (other, acme)):
        who, theirs = tenant.owner, made[foreign.owner.organization_id]
        notes = [f"note {number}" for number in range(5, -1, -1)]
        assert await texts(memories, who) == [*notes, "fact 5"]
        for verb in (memories.get, memories.history, memories.forget):
            with pytest.raises(NotFound):
                await verb(who, theirs.id)
        subject = ContextSubject(organization_id=who.organization_id, user_id=foreign.anna.id)
        assert await memories.recent(subject, personal=True, limit=99) == []
    assert len(await events(storage, acme)) == len(await events(storage, other)) == 12


async def events(storage: Storage, tenant: Tenant) -> list:
    return await storage.read(tenant.owner.organization_id, runs.activities_before, None, 99)


def everyone(tenant: Tenant) -> ContextSubject:
    assert tenant.owner.organization_id is not None
    return ContextSubject(organization_id=tenant.owner.organization_id)
