"""A subject is four ids and nothing more."""

from uuid import uuid4

import pytest
from pydantic import ValidationError

from memoranda.words.subject import ContextSubject


def test_a_subject_needs_its_organization() -> None:
    with pytest.raises(ValidationError):
        ContextSubject.model_validate({"user_id": str(uuid4())})


def test_a_subject_can_be_neither_changed_nor_widened() -> None:
    subject = ContextSubject(organization_id=uuid4())
    assert (subject.user_id, subject.trigger_id, subject.agent_id) == (None, None, None)
    with pytest.raises(ValidationError):
        subject.organization_id = uuid4()  # type: ignore[misc] # the point of the test
    with pytest.raises(ValidationError):
        ContextSubject.model_validate({"organization_id": str(uuid4()), "role": "owner"})
