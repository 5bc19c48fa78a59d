"""Measures retrieval on conversations of LoCoMo's shape, through the HTTP API of a served product.

Each conversation goes into an organization of its own, as one transcript. Every question of the
categories 1 to 4 is searched for, and a brief is built for it with knowledge as its only source.
With --conversations, it is appended to a conversation instead, and what was said is searched.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

import httpx
from databases import database_options, databases
from locomo_data import CATEGORIES, Question, Talk, Turn, read_talks
from locomo_said import RESULTS, SaidTalk
from measure import console, duration
from over_http import send
from rich.progress import track
from rich.table import Table
from served import run, served

TOKENS: Final = 1_000
FLOORS: Final = {
    "bundled": {
        "all": {"r10": 81.0, "r20": 86.0, "mrr": 63.0, "brief": 84.0},
        # At least 3 more than words alone find.
        "multi-hop": {"r10": 50.0, "r20": 60.0, "mrr": 50.0, "brief": 55.0},
    },
    "none": {"all": {"r10": 76.0, "r20": 82.0, "mrr": 55.0, "brief": 78.0}},
}
"""The same is promised of conversations, of which there is no brief."""
HEADINGS: Final = {"r10": "R@10", "r20": "R@20", "mrr": "MRR", "brief": "in 1,000 tokens"}
# The total has room for the heading, so that the source's own budget is the bound.
POLICY: Final = {
    "sources": [
        {
            "name": "knowledge",
            "token_budget": TOKENS,
            "limit": 40,
            "options": {"include_organization": True},
        }
    ],
    "total_token_budget": TOKENS + 50,
}
READY_TIMEOUT_S: Final = 900.0


@dataclass(frozen=True)
class Score:
    """How one question went: shares of its evidence (0 to 1), and seconds for each request."""

    category: int
    r10: float
    r20: float
    mrr: float
    semantic: bool
    search_s: float
    brief: float | None = None
    brief_s: float | None = None


def main() -> None:
    """Print the measures of each database, by category and in all."""
    options = read_options()
    talks = read_talks(options.path)
    with databases(options) as urls:
        found = {name: measure(name, url, talks, options) for name, url in urls.items()}
    if options.json:
        results = {name: summary(scores, options.embedder) for name, scores in found.items()}
        print(json.dumps(results))
    else:
        show(found, options.embedder)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, metavar="PATH", help="a file of LoCoMo's shape")
    parser.add_argument(
        "--embedder",
        choices=sorted(FLOORS),
        default="bundled",
        help="the embedder that is served with; none for words alone (default: bundled)",
    )
    parser.add_argument(
        "--conversations",
        action="store_true",
        help="search what was said in conversations, not transcripts that were added",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    database_options(parser)
    return parser.parse_args()


def measure(name: str, url: str, talks: Sequence[Talk], options: argparse.Namespace) -> list[Score]:
    """Serve the database and ask it everything."""
    # What is found is measured here and not how fast: a busy machine leaves nothing out.
    settings = {
        "MEMORANDA_EMBEDDER": options.embedder,
        "MEMORANDA_EMBEDDER_TIMEOUT_S": "30",
        "MEMORANDA_SOURCE_TIMEOUT_S": "30",
    }
    key = run("keys", "create", "--role", "operator", "--db", url)["key"]
    with served(url, settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        scores: list[Score] = []
        for talk in track(talks, description=name, console=_progress(), transient=True):
            owner = make_organization(client, key, talk.name)
            if options.conversations:
                spoken = SaidTalk(client, owner, talk, meaning=options.embedder != "none")
                scores += [ask_said(spoken, each) for each in talk.questions]
                continue
            source = add_transcript(client, owner, talk)
            lines = {turn.id: said(turn) for turn in talk.turns}
            scores += [ask(client, owner, source, lines, each) for each in talk.questions]
        return scores


def make_organization(client: httpx.Client, operator: str, name: str) -> str:
    """Make an organization and return its owner's key."""
    made = send(client, operator, "POST", "/v1/organizations", json={"name": name})
    return str(made["key"]["key"])


def add_transcript(client: httpx.Client, key: str, talk: Talk) -> str:
    """Upload a conversation, wait until it can be searched, and return its source's id."""
    sent = {
        "files": {"file": (f"{talk.name}.jsonl", talk.transcript())},
        "data": {"kind": "transcript", "title": talk.name},
    }
    source = str(send(client, key, "POST", "/v1/knowledge/sources", **sent)["id"])
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        state = send(client, key, "GET", f"/v1/knowledge/sources/{source}")
        if state["status"] == "ready":
            return source
        if state["status"] == "failed":
            raise RuntimeError(f"{talk.name} could not be taken in: {state['reason']}")
        time.sleep(0.05)
    raise RuntimeError(f"{talk.name} was not ready after {READY_TIMEOUT_S:g} s.")


def ask(
    client: httpx.Client, key: str, source: str, lines: dict[str, str], question: Question
) -> Score:
    """Search for one question, build a brief for it, and see which of its evidence came back."""
    began = time.perf_counter()
    body = {"query": question.text, "limit": RESULTS, "source_ids": [source]}
    answer = send(client, key, "POST", "/v1/knowledge/search", json=body)
    searched = time.perf_counter()
    brief = send(client, key, "POST", "/v1/briefs", json={"query": question.text, "policy": POLICY})
    built = time.perf_counter()
    page = plain(brief["text"])
    found = [result["external_id"] for result in answer["results"]]
    scored = score(question, found, semantic=answer["semantic"], search_s=searched - began)
    told = share(question, {name for name, line in lines.items() if line in page})
    return replace(scored, brief=told, brief_s=built - searched)


def ask_said(talk: SaidTalk, question: Question) -> Score:
    """Search what was said for one question, and see which of its evidence came back."""
    began = time.perf_counter()
    found, semantic = talk.ask(question)
    return score(question, found, semantic=semantic, search_s=time.perf_counter() - began)


def score(question: Question, found: Sequence[str], *, semantic: bool, search_s: float) -> Score:
    """What these results, best first, are worth."""
    places = [place for place, each in enumerate(found, start=1) if each in question.evidence]
    return Score(
        category=question.category,
        r10=share(question, set(found[:10])),
        r20=share(question, set(found[:20])),
        mrr=1 / places[0] if places else 0.0,
        semantic=semantic,
        search_s=search_s,
    )


def share(question: Question, found: set[str]) -> float:
    """The share of a question's evidence that was found."""
    return fmean(each in found for each in question.evidence)


def said(turn: Turn) -> str:
    """A turn as a brief writes it, without what may follow it."""
    return plain(f"{turn.speaker}: {turn.text}")


def plain(text: str) -> str:
    """Text without what a brief may change: the lengths of spaces, and the kinds of brackets."""
    return " ".join(text.translate(str.maketrans("[]", "()")).split())


def summary(scores: Sequence[Score], embedder: str) -> dict[str, Any]:
    """The means over questions as percentages, by category and in all, and times in seconds."""
    groups = {CATEGORIES[n]: [s for s in scores if s.category == n] for n in CATEGORIES}
    rows = {name: means(group) for name, group in {**groups, "all": list(scores)}.items() if group}
    times = {"search_median_s": median(score.search_s for score in scores)}
    briefs = [score.brief_s for score in scores if score.brief_s is not None]
    if briefs:
        times["brief_median_s"] = median(briefs)
    semantic = round(100 * fmean(score.semantic for score in scores), 1)
    return {"floors": FLOORS[embedder], "measures": rows, "semantic": semantic, **times}


def means(scores: Sequence[Score]) -> dict[str, float]:
    taken = [asdict(score) for score in scores]
    return {"questions": len(taken)} | {
        name: round(100 * fmean(each[name] for each in taken), 1)
        for name in HEADINGS
        if taken[0][name] is not None
    }


def show(found: dict[str, list[Score]], embedder: str) -> None:
    """Print one table for each database."""
    how = "by words alone" if embedder == "none" else "by words and by the bundled embedder"
    for name, scores in found.items():
        result = summary(scores, embedder)
        table = Table(title=f"Retrieval on {name}, {how}", title_justify="left")
        table.add_column("category")
        shown = {each: heading for each, heading in HEADINGS.items() if each in means(scores)}
        for heading in ("questions", *shown.values()):
            table.add_column(heading, justify="right")
        for category, row in result["measures"].items():
            table.add_row(category, str(row["questions"]), *(f"{row[each]:.1f}" for each in shown))
        for category, floors in FLOORS[embedder].items():
            promised = (f"{floors[each]:.0f}" for each in shown)
            table.add_row(f"promised, {category}", "", *promised)
        console().print(table)
        times = {"a search": "search_median_s", "a brief": "brief_median_s"}
        told = (
            f"{what} {duration(result[name])}" for what, name in times.items() if name in result
        )
        print(f"Median over HTTP: {', '.join(told)}.")
        print(f"Meaning was compared for {result['semantic']} % of the searches.\n")


def _progress() -> Any:
    from rich.console import Console  # noqa: PLC0415 - standard output is for the results

    return Console(file=sys.stderr)


if __name__ == "__main__":
    main()
