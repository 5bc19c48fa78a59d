"""LangGraph's store: items of a subject, which graphs put, ask for, and search by what they mean."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from memoranda.access.models import Principal
from memoranda.graphs.items.models import (
    Answer,
    Condition,
    GetItem,
    GraphItem,
    ListNamespaces,
    Operation,
    PutItem,
    SearchItems,
)
from memoranda.integrations.home import Given, Home
from memoranda.words.errors import Invalid
from memoranda.words.fitting import called
from memoranda.words.given import checked

WHOLE: Final = "$"
"""The field that stands for all of a value."""
MS_PER_MINUTE: Final = 60_000


class MemorandaStore(BaseStore):
    """A LangGraph store over an opened Memoranda, for the user and agent that are named.

    `who` is whom it acts as: the default organization's owner, without. What each subject keeps is its own:
    namespaces are within it, and nobody else's store finds them. `query` searches by meaning where
    Memoranda has an embedder, through what is at `fields` of each value (`$` is all of it), unless
    an item's own `index` says otherwise. `ttl` is LangGraph's own, but that an expired item is never answered.
    """

    supports_ttl = True

    @checked
    def __init__(
        self,
        memoranda: Given,
        who: Principal | None = None,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        fields: Sequence[str] = (WHOLE,),
        ttl: TTLConfig | None = None,
    ) -> None:
        super().__init__()
        self._home = Home.of(memoranda, who, user_id, agent_id)
        self._fields = [_tokenized(field) for field in fields]
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all of them in one transaction: reads first, then puts. From another thread than the loop's."""
        asked = self._asked(ops)
        return self._home.wait(self._done(asked))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all of them in one transaction: reads first, then puts.

        Raises LangGraph's `InvalidNamespaceError`, and `ValueError` for what can't be kept or asked.
        """
        asked = self._asked(ops)
        return await self._home.run(self._done(asked))

    def sweep_ttl(self) -> int:
        """Delete what has expired; how many. A worker of Memoranda does so every night."""
        home = self._home
        return home.wait(home.memoranda.graphs.items.sweep(home.who, **home.subject))

    async def asweep_ttl(self) -> int:
        """`sweep_ttl`, awaited."""
        home = self._home
        return await home.run(home.memoranda.graphs.items.sweep(home.who, **home.subject))

    def _asked(self, ops: Iterable[Op]) -> list[Operation]:
        given = list(ops)
        for each in given:
            _check(each)
        return [self._operation(each) for each in given]

    async def _done(self, asked: Sequence[Operation]) -> list[Result]:
        home = self._home
        try:
            answers = await home.memoranda.graphs.items.batch(home.who, asked, **home.subject)
        except Invalid as error:
            raise ValueError(error.message) from error
        return [_result(one, other) for one, other in zip(asked, answers, strict=True)]

    def _operation(self, op: Op) -> Operation:
        match op:
            case GetOp():
                return GetItem(tuple(op.namespace), str(op.key), op.refresh_ttl)
            case PutOp():
                ttl = None if op.ttl is None else round(op.ttl * MS_PER_MINUTE)
                return PutItem(
                    tuple(op.namespace), str(op.key), op.value, self._texts(op), ttl_ms=ttl
                )
            case SearchOp():
                return SearchItems(
                    namespace=tuple(op.namespace_prefix),
                    filter=op.filter,
                    limit=op.limit,
                    offset=op.offset,
                    query=op.query,
                    refresh=op.refresh_ttl,
                )
            case ListNamespacesOp():
                conditions = [
                    Condition(each.match_type, _path(each.path))
                    for each in op.match_conditions or ()
                ]
                return ListNamespaces(tuple(conditions), op.max_depth, op.limit, op.offset)
        raise ValueError(f"Unknown operation type: {type(op)}")

    def _texts(self, op: PutOp) -> tuple[str, ...]:
        """What an item is found by: each text at each of its fields."""
        embeds = self._home.memoranda.graphs.items.embeds
        if op.value is None or op.index is False or not embeds:
            return ()
        fields = self._fields if op.index is None else [_tokenized(each) for each in op.index]
        found = [text for field in fields for text in get_text_at_path(op.value, field)]
        return tuple(text for text in found if text.strip())


def _check(op: Op) -> None:
    """Raise LangGraph's `InvalidNamespaceError`, and `ValueError` for what is of no shape that an operation has."""
    match op:
        case GetOp() | PutOp():
            _check_labels("namespace", op.namespace)
        case SearchOp():
            _check_labels("namespace_prefix", op.namespace_prefix)
            if op.filter is not None and not isinstance(op.filter, Mapping):
                raise ValueError(f"filter must be a mapping or None and is {called(op.filter)}.")
    validate_op_namespace(op)
    if isinstance(op, PutOp):
        if op.value is not None and not isinstance(op.value, Mapping):
            raise ValueError(
                f"value must be a mapping, or None to delete, and is {called(op.value)}."
            )
        if (
            op.index is not None
            and op.index is not False
            and not isinstance(op.index, list | tuple)
        ):
            raise ValueError(
                f"index must be a list of fields, False or None and is {called(op.index)}."
            )


def _check_labels(field: str, namespace: object) -> None:
    """A text is iterable too: each of its letters would be a label."""
    if not isinstance(namespace, list | tuple):
        raise InvalidNamespaceError(
            f"{field} must be a tuple of labels and is {called(namespace)}."
        )


def _tokenized(field: str) -> list[str] | str:
    return field if field == WHOLE else tokenize_path(field)


def _path(path: Sequence[str] | str) -> tuple[str, ...]:
    return (path,) if isinstance(path, str) else tuple(path)


def _result(asked: Operation, answer: Answer) -> Result:
    if isinstance(answer, GraphItem):
        return Item(
            value=answer.value,
            key=answer.key,
            namespace=answer.namespace,
            created_at=answer.created_at,
            updated_at=answer.updated_at,
        )
    if isinstance(asked, SearchItems):
        return [_found(each) for each in answer or () if isinstance(each, GraphItem)]
    return [each for each in answer if isinstance(each, tuple)] if answer is not None else None


def _found(item: GraphItem) -> SearchItem:
    return SearchItem(
        namespace=item.namespace,
        key=item.key,
        value=item.value,
        created_at=item.created_at,
        updated_at=item.updated_at,
        score=item.score,
    )
