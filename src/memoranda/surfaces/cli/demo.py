"""`memoranda demo`: the product at work on its own documentation, in a database that it throws away."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text

import memoranda
from memoranda.surfaces.cli import briefs, finding
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Choices, Session, opened
from memoranda.surfaces.cli.tables import table
from memoranda.surfaces.cli.taking_in import ingested
from memoranda.words.errors import NotFound

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoranda.briefs.models import ContextBrief, ContextPolicy
    from memoranda.knowledge.models import Source
    from memoranda.memories.models import MemorySearch, Recall

QUERY: Final = "How does Memoranda decide what fits into a brief, and what happens to the rest?"
GUIDES: Final = ("briefs.md", "knowledge.md", "memories.md", "tenancy.md", "tools.md")
"""Pages that say what the product does. Each is embedded, and all of them would take a minute."""
BUDGET: Final = 700
SOUGHT: Final = "When do new versions come out?"
ABOUT_A_DEAL: Final = "What do I have to know before I call Harbor Couriers about their order?"
DEAL_BUDGET: Final = 400
PROPOSED: Final = "Ada is on holiday in May."
PACKAGED: Final = "documentation"
STARTED_BY: Final = "DEV_SCRIPT"
"""The variable in which a checkout's script says how it was called."""


@dataclass(frozen=True)
class Told:
    """What the demo remembers: who it is for, the fact, and what became of it."""

    audience: str
    text: str
    fate: str


FACTS: Final = (
    Told("Ada", "Ada wants answers of one page.", "superseded by the next"),
    Told("Ada", "Ada wants answers of three sentences.", "current"),
    Told("everybody", "Releases are made on Thursdays.", "current"),
    Told("everybody", "The staging server is called kestrel.", "forgotten"),
    Told("Ada", PROPOSED, "proposed, and waits for a person"),
)


def demo(choices: Choices) -> Answer:
    """Take in Memoranda's own documentation, remember a few facts, and build a brief under a budget."""
    import asyncio
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="memoranda-demo-") as folder:
        database = str(Path(folder) / "demo.db")
        chosen = Choices(db=database, as_json=choices.as_json)
        return asyncio.run(_shown(chosen, pages(), Path(folder)))


async def _shown(choices: Choices, pages: "list[tuple[str, bytes]]", folder: Path) -> Answer:
    from memoranda.state.sample.store import make_company

    state = str(make_company(folder))
    settings = choices.settings().model_copy(update={"state": state})
    async with opened(choices, settings=settings) as at:
        sources = [await _taken_in(at, name, content) for name, content in pages]
        await _told(at)
        found = await at.memoranda.memories.search(at.who, SOUGHT)
        recalled = await at.memoranda.memories.recall(
            at.who, SOUGHT, user_id=await at.user_id("ada")
        )
        brief = await at.memoranda.briefs.build(
            at.who, QUERY, user_id=await at.user_id("ada"), budget=BUDGET, explain=True
        )
        policy = (await at.memoranda.briefs.policy(at.who, briefs.DEFAULT_POLICY)).policy
        deal = await _about_a_deal(at)
    value = {
        "documents": sources,
        "facts": [vars(fact) for fact in FACTS],
        "search": found,
        "recall": recalled,
        "query": QUERY,
        "budget": BUDGET,
        "brief": brief,
        "brief_of_a_deal": deal,
    }
    return Answer(value, lambda: _drawn(sources, (found, recalled), (brief, policy), deal))


def pages() -> list[tuple[str, bytes]]:
    """Some of the project's documentation, by name: packed into the wheel, or beside the source tree."""
    package = Path(memoranda.__file__).parent
    for root in (package / PACKAGED, package.parents[1]):
        readme = root / "README.md"
        if readme.is_file() and (root / "docs").is_dir():
            found = [readme, *(root / "docs" / name for name in GUIDES)]
            return [(page.name, page.read_bytes()) for page in found if page.is_file()]
    raise NotFound("The documentation did not come with this installation; install it again.")


async def _taken_in(at: Session, name: str, content: bytes) -> "Source":
    source = await at.memoranda.knowledge.add(at.who, content, kind="markdown", title=name)
    return await ingested(at, source)


async def _told(at: Session) -> None:
    """A fact that gives way to a newer one, a fact for everybody, and one that is forgotten."""
    ada = (await at.memoranda.access.create_user(at.who, "Ada", external_id="ada")).id
    remember = at.memoranda.memories.remember
    for fact in FACTS[:2]:
        await remember(at.who, fact.text, user_id=ada, attribute="preference.length")
    await remember(at.who, FACTS[2].text, title="Releases")
    forgotten = await remember(at.who, FACTS[3].text)
    await at.memoranda.memories.forget(at.who, forgotten.id)
    await at.memoranda.proposals.propose(at.who, PROPOSED, user_id=ada)
    await at.memoranda.worker.drain(at.who.organization_id)


async def _about_a_deal(at: Session) -> "ContextBrief":
    """A brief from rows of an application's own database, and what is remembered of one of them."""
    from memoranda.state.sample.store import COMPANY, DEAL
    from memoranda.words.ref import ResourceRef

    deal = ResourceRef(kind="crm.deal", id=DEAL)
    company = ResourceRef(kind="crm.company", id=COMPANY)
    await at.memoranda.memories.remember(
        at.who,
        "Harbor Couriers sign nothing before their works council has met.",
        title="How they buy",
        about=company,
        attribute="observation.buying",
    )
    sources = [
        {"name": "application", "token_budget": DEAL_BUDGET},
        {"name": "memory", "token_budget": 100},
    ]
    return await at.memoranda.briefs.build(
        at.who,
        ABOUT_A_DEAL,
        entities=[deal, company],
        policy={"sources": sources, "total_token_budget": DEAL_BUDGET},
    )


def _drawn(
    sources: "list[Source]",
    memories: "tuple[MemorySearch, Recall]",
    built: "tuple[ContextBrief, ContextPolicy]",
    deal: "ContextBrief",
) -> "Iterator[RenderableType]":
    chunks = sum(source.chunks for source in sources)
    yield _heading(f"1. Knowledge: {len(sources)} documents, {chunks} passages")
    yield Text(", ".join(source.title for source in sources))
    yield _heading("2. Memory: what was remembered, and what became of it")
    rows = [(fact.audience, fact.text, fact.fate) for fact in FACTS]
    yield table(("for", "~fact", "now"), rows)
    yield _heading("3. Found by meaning, and what a run for Ada is given of it")
    yield Text(f"{SOUGHT}\n", style="italic")
    yield from finding.drawn_search(memories[0])
    yield from finding.drawn_recall(memories[1])
    yield _heading(f"4. A brief of at most {BUDGET} tokens for Ada's question")
    yield Text(f"{QUERY}\n", style="italic")
    yield from briefs.drawn(*built, BUDGET, everything=False)
    yield _heading("5. A brief about a deal, from the rows of an application's own database")
    yield Text(f"{ABOUT_A_DEAL}\n", style="italic")
    yield Text(deal.text)
    yield _heading("Your turn")
    for words in ("knowledge add FILE", "remember TEXT", "memories search WORDS", "brief QUESTION"):
        yield Text(f"{called()} {words}")


def called() -> str:
    """What starts the program for who reads this: through the script of a checkout, that script."""
    script = os.environ.get(STARTED_BY)
    return f"{script} run memoranda" if script else "memoranda"


def _heading(text: str) -> Text:
    return Text(f"\n{text}\n", style="bold")
