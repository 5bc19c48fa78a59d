"""What a worker of the product does, all of it: every kind of work, and what it looks for when it begins."""

from datetime import timedelta
from typing import NamedTuple

from memoranda.conversations.chats.following.service import LiveRuns
from memoranda.conversations.finding.service import ConversationSearch
from memoranda.jobs.bell import Bell
from memoranda.jobs.chores import Scrubbing, Sweeping, TakingIn
from memoranda.jobs.nightly import Nightly, Step
from memoranda.jobs.watching import Watching
from memoranda.jobs.worker import Worker
from memoranda.knowledge.service import Knowledge
from memoranda.memories.embedding.service import Embedding
from memoranda.settings import Settings
from memoranda.storage import Storage


class Kinds(NamedTuple):
    """The subsystems whose rows wait for a worker, and the runs that one watches over."""

    knowledge: Knowledge
    embedding: Embedding
    said: ConversationSearch
    live: LiveRuns


def make_worker(
    storage: Storage, settings: Settings, kinds: Kinds, nights: list[Step], bell: Bell
) -> Worker:
    """Return the worker of an opened product, at rest; `nights` is what it does once a night."""
    knowledge, embedding, said, live = kinds
    first = [
        Step("look for what can't be found yet", embedding.take_up, again=True),
        Step("look for documents without vectors", knowledge.embedding.take_up, platform=True),
        Step("look for what was said and can't be found yet", said.take_up),
    ]
    pruning = Step("pruning of events of chats' runs", live.prune, again=True)
    return Worker(
        storage,
        [
            TakingIn(knowledge),
            Sweeping(knowledge),
            knowledge.embedding,
            embedding,
            *said.chores,
            Scrubbing(storage),
        ],
        Nightly(storage, [*nights, pruning], at=settings.nightly_at, first=first),
        poll=timedelta(seconds=settings.worker_poll_s),
        bell=bell,
        rounds=[Watching(storage, live)],
    )
