"""The validator: what it refuses in requests, and which differences of answers it knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakehub.operations import HANDLERS
from fakehub.spec import load_spec

SHA = "1" * 40
REVIEW = "/repos/acme/bench/pulls/1/reviews"
COMMENT = {"path": "f", "body": "b", "line": 1, "side": "RIGHT"}


def faults(method: str, path: str, body: Any = None, query: tuple[tuple[str, str], ...] = ()) -> list[str]:
    match = load_spec().match(method, path)
    assert match is not None
    return load_spec().request_faults(match, query, b"" if body is None else json.dumps(body).encode())


@pytest.mark.parametrize(
    ("method", "path", "operation", "parameters"),
    [
        ("GET", "/repos/o/r", "repos/get", {}),
        ("GET", "/repos/o/r/pulls/7/files", "pulls/list-files", {"pull_number": "7"}),
        ("GET", "/repos/o/r/pulls/comments/7", "pulls/get-review-comment", {"comment_id": "7"}),
        ("GET", "/repos/o/r/contents/a/b%20c/d", "repos/get-content", {"path": "a/b c/d"}),
        ("GET", "/repos/o/r/commits/feature/x/check-runs", "checks/list-for-ref", {"ref": "feature/x"}),
        ("GET", "/repos/o/r/compare/a...b:c/d", "repos/compare-commits-with-basehead", {"basehead": "a...b:c/d"}),
    ],
)
def test_routes(method: str, path: str, operation: str, parameters: dict[str, str]) -> None:
    match = load_spec().match(method, path)
    assert match is not None
    assert (match.operation, match.parameters) == (operation, {"owner": "o", "repo": "r", **parameters})


def test_no_such_route() -> None:
    assert load_spec().match("PUT", "/repos/o/r") is None
    assert load_spec().match("GET", "/repos/o") is None


def test_every_operation_is_in_the_fake() -> None:
    assert sorted(HANDLERS) == load_spec().operations()


def review(**changes: Any) -> dict[str, Any]:
    return {"commit_id": SHA, "event": "COMMENT", "body": "b", "comments": [{**COMMENT, **changes}]}


def test_a_right_review_is_let_through() -> None:
    assert faults("POST", REVIEW, review()) == []
    assert faults("POST", REVIEW, review(start_line=1, line=2, start_side="RIGHT")) == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (review(startLine=1), "body /comments/0/startLine: unknown property"),
        (review(side="right"), "body /comments/0/side: 'right' is not LEFT or RIGHT"),
        (review(start_side="side", start_line=1), "body /comments/0/start_side: 'side' is not LEFT or RIGHT"),
        (review(start_side="LEFT"), "body /comments/0/start_side: without start_line"),
        (review(position=3), "body /comments/0/position: deprecated, use line and side"),
        (review(line="1"), "body /comments/0/line: /comments/0/line '1' is not of type 'integer'"),
        ({**review(), "event": "COMMENTED"}, "body /event: /event 'COMMENTED' is not one of"),
        ({"body": "b", "commit_id": SHA}, "body: without event the review stays pending"),
        ({"body": "b", "event": "COMMENT"}, "body: without commit_id"),
        ([], "body /: / [] is not of type 'object'"),
    ],
)
def test_wrong_reviews(body: Any, told: str) -> None:
    found = faults("POST", REVIEW, body)
    assert [one for one in found if one.startswith(told)], found


def test_broken_json() -> None:
    match = load_spec().match("POST", REVIEW)
    assert match is not None
    assert load_spec().request_faults(match, (), b"{")[0].startswith("body: ")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ((("per_page", "100"), ("page", "2")), None),
        ((("perpage", "100"),), "query: unknown parameter 'perpage'"),
        ((("per_page", "many"),), "query per_page: 'many' is not of type 'integer'"),
    ],
)
def test_queries(query: tuple[tuple[str, str], ...], told: str | None) -> None:
    assert faults("GET", "/repos/o/r/pulls/1/files", None, query) == ([] if told is None else [told])


def test_path_parameters_have_types() -> None:
    assert faults("GET", "/repos/o/r/pulls/one") == ["path pull_number: 'one' is not of type 'integer'"]


def test_check_runs() -> None:
    url = "/repos/o/r/check-runs"
    note = {"path": "f", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "m"}
    right = {"name": "botlint", "head_sha": SHA, "output": {"title": "t", "summary": "s", "annotations": [note] * 50}}
    assert faults("POST", url, right) == []
    many = {**right, "output": {**right["output"], "annotations": [note] * 51}}  # type: ignore[dict-item]
    assert "is too long" in " ".join(faults("POST", url, many))
    wrong = {**note, "annotation_level": "error"}
    assert "is not one of" in " ".join(
        faults("POST", url, {**right, "output": {"title": "t", "summary": "s", "annotations": [wrong]}})
    )
    assert "body /output/annotations/0/level: unknown property" in faults(
        "POST", url, {**right, "output": {"title": "t", "summary": "s", "annotations": [{**note, "level": "x"}]}}
    )
    assert faults("PATCH", f"{url}/1", {"status": "completed", "conclusion": "success"}) == []
    assert faults("PATCH", f"{url}/1", {"status": "in_progress", "details": "u"}) == ["body /details: unknown property"]


def test_free_inputs_of_a_workflow() -> None:
    url = "/repos/o/r/actions/workflows/w.yml/dispatches"
    assert faults("POST", url, {"ref": "main", "inputs": {"anything": "1"}, "return_run_details": True}) == []
    assert faults("POST", url, {"ref": "main", "input": {}}) == ["body /input: unknown property"]


def test_known_deviations_of_answers() -> None:
    match = load_spec().match("GET", "/repos/o/r/pulls/1/comments")
    assert match is not None
    found = load_spec().response_faults(match, 200, [{"line": None, "side": "RIGHT"}])
    assert not [one for one in found if "None is not" in one]
    assert [one for one in found if "'path' is a required property" in one]
    assert load_spec().response_faults(match, 204, None) == ["answer 204 is not described"]
    assert load_spec().response_faults(match, 503, None) == []
