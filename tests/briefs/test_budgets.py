"""A token budget has a largest value, of one source and of all."""

import pytest

from memoranda.briefs.models import MOST_TOKENS
from memoranda.briefs.policies import check_policy
from memoranda.words.errors import PolicyRejected


def a_raw_policy(each: int, total: int) -> dict[str, object]:
    return {
        "sources": [{"name": "memory", "token_budget": each}],
        "total_token_budget": total,
    }


def test_the_largest_budget_may_be_published() -> None:
    assert check_policy(a_raw_policy(MOST_TOKENS, MOST_TOKENS)).total_token_budget == MOST_TOKENS


@pytest.mark.parametrize("more", [MOST_TOKENS + 1, 2**31, 10**30])
def test_a_larger_budget_is_refused_at_each_place(more: int) -> None:
    with pytest.raises(PolicyRejected) as caught:
        check_policy(a_raw_policy(more, more))
    assert [path for path, _ in caught.value.rejections] == [
        ("sources", 0, "token_budget"),
        ("total_token_budget",),
    ]
    assert "1000000" in caught.value.message
