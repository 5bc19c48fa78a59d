"""The night takes old revisions of files by itself, in every organization."""

from datetime import timedelta

import pytest

from memoranda import Memoranda
from memoranda.files.errors import RevisionGone
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.file_house import written
from tests.contract.tenants import new_tenant


async def test_the_night_keeps_the_newest_20_and_the_last_30_days(
    database_url: str, clock: SteppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, clock=clock, migrate=False) as memoranda:
        tenants = [await new_tenant(memoranda.storage, name) for name in ("Acme", "Other")]
        nightly = memoranda.worker._nightly
        assert nightly is not None
        await nightly.serve(new_id())  # the first look sets the time
        for tenant in tenants:
            await written(memoranda.files, tenant.owner, "voice", *map(str, range(25)))
        clock.tick(timedelta(days=31))
        await nightly.serve(new_id())
        for tenant in tenants:
            kept = await memoranda.files.history(tenant.owner, "voice", limit=100)
            assert [each.number for each in kept] == list(range(26, 5, -1))
            with pytest.raises(RevisionGone):
                await memoranda.files.revision(tenant.owner, "voice", 5)
