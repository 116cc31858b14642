"""The client's calls about workflows: dispatch, runs, jobs, artifacts, cancelling; and what it refuses to read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fakehub import FakeGitHub, Fault, Repository
from fakehub.spec import load_spec
from fakehub.state import Workflow

from botlint.github.client import Client
from botlint.github.port import Ambiguous, Forbidden, GitHubError, NotFound, TooLarge, Unprocessable

INPUTS = {"pr": "1", "nonce": "n1"}
USED = frozenset(
    "actions/create-workflow-dispatch actions/list-workflow-runs actions/get-workflow-run actions/cancel-workflow-run"
    " actions/list-workflow-run-artifacts actions/download-artifact actions/list-jobs-for-workflow-run".split()
)


@pytest.fixture
def repository(hub: FakeGitHub) -> Repository:
    return hub.repository("acme/bench", {"f": "x\n"})


@pytest.fixture
def workflow(repository: Repository) -> Workflow:
    return repository.workflow(".github/workflows/smoke.yml", "smoke", ["pr", "nonce"], "smoke #{pr} {nonce}")


@pytest.fixture
def client(hub: FakeGitHub, repository: Repository, workflow: Workflow) -> Iterator[Client]:
    found = make(hub, repository, {"actions": "write", "contents": "read"})
    yield found
    found.close()


def make(hub: FakeGitHub, repository: Repository, permissions: dict[str, str]) -> Client:
    app = hub.app(permissions=permissions)
    token = hub.installation_token(hub.install(app, repository))
    return Client("acme/bench", token.text, base_url=hub.api, sleep=lambda _: None)


def test_from_dispatch_to_artifact(hub: FakeGitHub, client: Client, workflow: Workflow) -> None:
    made = client.dispatch_workflow("smoke.yml", "main", INPUTS)
    assert made is not None
    assert made.url.endswith(f"/actions/runs/{made.run}")
    run = client.workflow_run(made.run)
    assert (run.title, run.event, run.path, run.branch, run.status, run.conclusion) == (
        "smoke #1 n1", "workflow_dispatch", ".github/workflows/smoke.yml", "main", "queued", "",
    )  # fmt: skip
    assert run.actor.login == "botlint[bot]"
    assert [one.id for one in client.workflow_runs("smoke.yml", "main")] == [run.id]
    assert client.workflow_runs("smoke.yml", "other") == []
    (kept,) = workflow.runs
    kept.begin("node-7")
    assert client.workflow_run(run.id).status == "in_progress"
    assert [one.runner for one in client.workflow_jobs(run.id)] == ["node-7"]
    kept.upload("smoke", {"smoke.json": b"{}"})
    kept.upload("other", {"smoke.json": b"{}"})
    (found,) = client.artifacts(run.id, "smoke")
    assert (found.name, found.expired) == ("smoke", False)
    content = client.artifact(found.id, 10_000)
    assert content.startswith(b"PK")
    assert len(content) == found.size
    assert client.cancel_run(run.id)
    assert client.workflow_run(run.id).conclusion == "cancelled"
    assert not client.cancel_run(run.id), "there is nothing left to cancel"
    assert set(hub.counts()) >= USED
    assert hub.count("storage") == 1


def test_all_that_is_used_is_described() -> None:
    assert set(load_spec().operations()) >= USED


def test_an_older_server_does_not_say_which_run_it_made(hub: FakeGitHub, client: Client, workflow: Workflow) -> None:
    hub.run_details = False
    assert client.dispatch_workflow("smoke.yml", "main", INPUTS) is None
    assert len(workflow.runs) == 1


@pytest.mark.parametrize(
    ("branch", "inputs", "enabled", "said"),
    [
        ("nowhere", INPUTS, True, "No ref found"),
        ("main", {"pr": "1", "other": "x"}, True, "Unexpected inputs"),
        ("main", INPUTS, False, "disabled workflow"),
    ],
)
def test_a_dispatch_that_is_refused(
    client: Client, workflow: Workflow, branch: str, inputs: dict[str, str], enabled: bool, said: str
) -> None:
    workflow.enabled = enabled
    with pytest.raises(Unprocessable, match=said):
        client.dispatch_workflow("smoke.yml", branch, inputs)
    with pytest.raises(NotFound):
        client.dispatch_workflow("other.yml", "main", INPUTS)
    assert workflow.runs == []


def test_without_the_permission_nothing_is_started(hub: FakeGitHub, repository: Repository, workflow: Workflow) -> None:
    client = make(hub, repository, {"contents": "read", "checks": "write"})
    with pytest.raises(Forbidden):
        client.dispatch_workflow("smoke.yml", "main", INPUTS)
    assert workflow.runs == []
    client.close()


def test_a_dispatch_is_sent_once_and_a_cancel_until_it_is_heard(
    hub: FakeGitHub, client: Client, workflow: Workflow
) -> None:
    hub.fail("actions/create-workflow-dispatch", Fault(status=502, done=True))
    with pytest.raises(Ambiguous):
        client.dispatch_workflow("smoke.yml", "main", INPUTS)
    assert len(workflow.runs) == 1
    hub.fail("actions/cancel-workflow-run", Fault(status=502))
    assert client.cancel_run(workflow.runs[0].id)


def test_an_artifact_that_is_too_large_is_not_read_to_its_end(client: Client, workflow: Workflow) -> None:
    client.dispatch_workflow("smoke.yml", "main", INPUTS)
    workflow.runs[0].upload_raw("smoke", b"x" * 500_000)
    (found,) = client.artifacts(workflow.runs[0].id, "smoke")
    with pytest.raises(TooLarge):
        client.artifact(found.id, 100_000)
    assert len(client.artifact(found.id, 500_000)) == 500_000


def test_the_address_of_an_artifact_is_in_no_log(
    client: Client, workflow: Workflow, caplog: pytest.LogCaptureFixture
) -> None:
    """Who has it may read the artifact."""
    client.dispatch_workflow("smoke.yml", "main", INPUTS)
    workflow.runs[0].upload("smoke", {"smoke.json": b"{}"})
    (found,) = client.artifacts(workflow.runs[0].id, "smoke")
    with caplog.at_level("DEBUG"):
        client.artifact(found.id, 10_000)
    assert "signed-" not in caplog.text


def test_an_artifact_that_is_not_there(client: Client) -> None:
    with pytest.raises(NotFound):
        client.artifact(12345, 100)


@pytest.mark.parametrize(
    "location", ["", "file:///etc/passwd", "ftp://example.invalid/x", "//example.invalid/x", "/etc/passwd"]
)
def test_an_artifact_is_fetched_from_addresses_of_the_web_only(
    hub: FakeGitHub, client: Client, workflow: Workflow, location: str
) -> None:
    client.dispatch_workflow("smoke.yml", "main", INPUTS)
    workflow.runs[0].upload("smoke", {"smoke.json": b"{}"})
    (found,) = client.artifacts(workflow.runs[0].id, "smoke")
    hub.fail("actions/download-artifact", Fault(status=302, headers={"Location": location}))
    with pytest.raises(GitHubError, match="no artifact"):
        client.artifact(found.id, 10_000)


def test_no_plain_http_where_the_server_has_https() -> None:
    from botlint.github.client import _may_lead

    assert _may_lead("https://api.github.com/x", "https://storage.example/x")
    assert not _may_lead("https://api.github.com/x", "http://169.254.169.254/latest")
