"""What runs promise on every database: whose they are, who sees them, and what happened."""

from uuid import UUID

import pytest

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.access.service import Access
from memoranda.runs.models import LogLevel, RunStatus
from memoranda.runs.service import INPUT_BYTES, Runs
from memoranda.runs.store import record_activity
from memoranda.storage import PLATFORM, Storage, Transaction
from memoranda.words.errors import Invalid, NotFound, OverLimit, ReadOnly, Refused
from memoranda.words.ids import new_id


class House:
    """Two organizations; ours has two users and two agents."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.access = Access(storage)
        self.runs = Runs(storage)

    async def fill(self) -> None:
        self.owner = await self.access.ensure_default()
        made = await self.access.create_organization(LOCAL_OPERATOR, "Other")
        self.stranger = await self.access.authenticate(made.key.key)
        self.anna = (await self.access.create_user(self.owner, "Anna")).id
        self.ben = (await self.access.create_user(self.owner, "Ben")).id
        self.scout = (await self.access.create_agent(self.owner, "scout")).id
        self.clerk = (await self.access.create_agent(self.owner, "clerk")).id

    def who(
        self, role: Role, user_id: UUID | None = None, agent_id: UUID | None = None
    ) -> Principal:
        home = self.owner.organization_id
        return Principal(organization_id=home, role=role, user_id=user_id, agent_id=agent_id)


@pytest.fixture
async def house(storage: Storage) -> House:
    house = House(storage)
    await house.fill()
    return house


async def test_a_new_run_is_running_and_reads_back_as_it_was_made(house: House) -> None:
    trigger = new_id()
    parent = await house.runs.create(house.owner)
    made = await house.runs.create(
        house.owner,
        agent_id=house.scout,
        user_id=house.anna,
        trigger_id=trigger,
        parent_id=parent.id,
        input={"goal": "Größe ☃", "refs": [1, None, 2.5, True]},
    )
    assert made.status is RunStatus.RUNNING
    assert (made.agent_id, made.user_id, made.trigger_id) == (house.scout, house.anna, trigger)
    assert made.parent_id == parent.id
    assert await house.runs.get(house.owner, made.id) == made


async def test_a_run_needs_a_user_agent_and_parent_that_exist(house: House) -> None:
    for missing in ("agent_id", "user_id", "parent_id"):
        with pytest.raises(NotFound):
            await house.runs.create(house.owner, **{missing: new_id()})
    assert (await house.runs.activities(house.owner)).items == []


async def test_nothing_of_another_organization_can_be_named(house: House) -> None:
    run = await house.runs.create(house.owner)
    named = {"agent_id": house.scout, "user_id": house.anna, "parent_id": run.id}
    for name, value in named.items():
        with pytest.raises(NotFound):
            await house.runs.create(house.stranger, **{name: value})
    for asking in (
        house.runs.get(house.stranger, run.id),
        house.runs.logs(house.stranger, run.id),
        house.runs.log(house.stranger, run.id, "step"),
    ):
        with pytest.raises(NotFound):
            await asking
    assert (await house.runs.activities(house.stranger)).items == []


async def test_a_member_starts_and_sees_its_own_runs_alone(house: House) -> None:
    member = house.who(Role.MEMBER, house.anna)
    own = await house.runs.create(member, agent_id=house.clerk)
    assert own.user_id == house.anna
    bens = await house.runs.create(house.owner, user_id=house.ben)
    assert await house.runs.get(member, own.id) == own
    with pytest.raises(NotFound):
        await house.runs.get(member, bens.id)
    with pytest.raises(NotFound):
        await house.runs.create(member, parent_id=bens.id)
    with pytest.raises(Refused):
        await house.runs.create(member, user_id=house.ben)


async def test_an_agent_starts_and_logs_its_own_runs_alone(house: House) -> None:
    agent = house.who(Role.AGENT, house.anna, house.scout)
    own = await house.runs.create(agent)
    assert (own.agent_id, own.user_id) == (house.scout, house.anna)
    clerks = await house.runs.create(house.owner, agent_id=house.clerk, user_id=house.anna)
    await house.runs.log(agent, own.id, "fetched", metadata={"pages": 3})
    with pytest.raises(NotFound):
        await house.runs.log(agent, clerks.id, "fetched")
    with pytest.raises(Refused):
        await house.runs.create(agent, agent_id=house.clerk)


async def test_a_reader_reads_runs_and_starts_none(house: House) -> None:
    run = await house.runs.create(house.owner)
    reader = house.who(Role.READ_ONLY)
    assert await house.runs.get(reader, run.id) == run
    assert len((await house.runs.activities(reader)).items) == 1
    with pytest.raises(ReadOnly):
        await house.runs.create(reader)
    with pytest.raises(ReadOnly):
        await house.runs.log(reader, run.id, "step")


async def test_the_operator_has_no_runs(house: House) -> None:
    with pytest.raises(Refused):
        await house.runs.create(LOCAL_OPERATOR)
    with pytest.raises(Refused):
        await house.runs.activities(LOCAL_OPERATOR)


async def test_an_input_that_can_not_be_kept_is_refused_and_nothing_is_written(
    house: House,
) -> None:
    for broken in ("nul\0", {"half": "\ud800"}, [float("nan")], {1: {2}}):
        with pytest.raises(Invalid):
            await house.runs.create(house.owner, input=broken)
    with pytest.raises(OverLimit):
        await house.runs.create(house.owner, input="x" * INPUT_BYTES)
    assert (await house.runs.activities(house.owner)).items == []


async def test_a_runs_log_reads_in_the_order_of_its_writing(house: House) -> None:
    run = await house.runs.create(house.owner)
    for number in range(5):
        level = LogLevel.WARNING if number == 3 else LogLevel.INFO
        await house.runs.log(
            house.owner, run.id, f"step {number}", level=level, metadata={"n": number}
        )
    first = await house.runs.logs(house.owner, run.id, limit=3)
    rest = await house.runs.logs(house.owner, run.id, limit=2, cursor=first.next_cursor)
    assert [line.metadata["n"] for line in first.items + rest.items] == [0, 1, 2, 3, 4]
    assert rest.items[0].level is LogLevel.WARNING
    assert rest.next_cursor is None


async def test_a_log_takes_no_cursor_of_another_runs(house: House) -> None:
    first, second = [await house.runs.create(house.owner) for _ in range(2)]
    for _ in range(2):
        await house.runs.log(house.owner, first.id, "step")
    cursor = (await house.runs.logs(house.owner, first.id, limit=1)).next_cursor
    for reading in (
        house.runs.logs(house.owner, second.id, cursor=cursor),
        house.runs.activities(house.owner, cursor=cursor),
    ):
        with pytest.raises(Invalid) as refused:
            await reading
        assert refused.value.details == {"field": "cursor"}


@pytest.mark.parametrize("step", ["", "nul\0", "half \ud800"])
async def test_a_step_needs_a_name(house: House, step: str) -> None:
    run = await house.runs.create(house.owner)
    with pytest.raises(Invalid):
        await house.runs.log(house.owner, run.id, step)


async def test_activity_reads_newest_first_page_by_page(house: House) -> None:
    runs = [await house.runs.create(house.owner, agent_id=house.scout) for _ in range(5)]
    seen, cursor = [], None
    while True:
        page = await house.runs.activities(house.owner, limit=2, cursor=cursor)
        seen += page.items
        if (cursor := page.next_cursor) is None:
            break
    assert [each.subject_id for each in seen] == [run.id for run in reversed(runs)]
    assert {(each.type, each.agent_id) for each in seen} == {("run_started", house.scout)}
    assert (await house.runs.activities(house.owner, limit=5)).next_cursor is None
    for limit in (0, 501):
        with pytest.raises(Invalid):
            await house.runs.activities(house.owner, limit=limit)


async def test_activity_is_kept_only_if_what_it_tells_of_is(house: House) -> None:
    def fail(tx: Transaction) -> None:
        record_activity(tx, "memory_forgotten", new_id(), revisions=2)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await house.storage.write(house.owner.organization_id, fail)
    assert (await house.runs.activities(house.owner)).items == []


async def test_the_platform_keeps_no_activity(house: House) -> None:
    await house.storage.write(PLATFORM, record_activity, "source_added", new_id())
    assert (await house.runs.activities(house.owner)).items == []
