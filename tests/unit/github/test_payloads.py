"""GitHub's JSON of any shape: what is of the wrong type is as if it were not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from botlint.github import payloads

KEYS = """app author base body comments commit conclusion content databaseId draft errors fullDatabaseId head
in_reply_to_id isResolved labels line login mode name nodes number path ref repo sha side size state status title
totalCount tree truncated type user verification verified""".split()
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=8),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "read",
    [
        payloads.annotation,
        payloads.changed_file,
        payloads.check_run,
        payloads.commit,
        payloads.identity,
        payloads.issue_comment,
        payloads.pull_request,
        payloads.refusals,
        payloads.review_comment,
        payloads.thread,
        payloads.tree,
    ],
)
@given(data=st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=10))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_shape_is_read(read: Callable[[Any], object], data: dict[str, Any]) -> None:
    read(data)


@pytest.mark.parametrize("wrong", [None, 5, 1.5, True, "text", {"a": 1}, [5], [None], ["text"], [[]]])
def test_lists_that_are_none(wrong: Any) -> None:
    assert not any(payloads.pull_request({"labels": wrong}).labels)
    assert payloads.tree({"tree": wrong}).entries == ()
    assert set(payloads.thread({"comments": {"nodes": wrong}}).comments) <= {0}


@pytest.mark.parametrize("size", [True, -1, "5", 1.5, None])
def test_a_size_that_is_none(size: Any) -> None:
    (entry,) = payloads.tree({"tree": [{"path": "a", "type": "blob", "size": size}]}).entries
    assert entry.size is None
