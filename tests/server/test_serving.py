"""`botlint serve` and `botlint worker` at the command line."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from botlint.cli import main
from botlint.server.events import SUBSCRIBED

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\n"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("APP_ID", "PRIVATE_KEY", "PRIVATE_KEY_FILE", "WEBHOOK_SECRET", "WEBHOOK_SECRET_FILE", "DATABASE"):
        monkeypatch.delenv(f"BOTLINT_{name}", raising=False)
    monkeypatch.setattr("botlint.server.logs.set_up", lambda level: None)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def files(folder: Path, key: str = KEY, secret: str = "a long secret\n") -> list[str]:
    (folder / "key").write_text(key)
    (folder / "secret").write_text(secret)
    return ["--app-id", "1", "--private-key", str(folder / "key"), "--webhook-secret", str(folder / "secret")]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["serve"], "--app-id is missing"),
        (["serve", "--app-id", "1"], "--private-key is missing"),
        (["serve", "--app-id", "0"], "0 is not in the range"),
        (["serve", "--app-id", "1", "--private-key", "/nowhere"], "cannot read the file of --private-key"),
        (["worker", "FILES"], "a worker needs the database of the receiver"),
        (["serve", "FILES", "--receive-only"], "--receive-only needs a database that workers share"),
        (["serve", "FILES", "--database", "mysql://x/y"], "not mysql://"),
        (["serve", "FILES", "--database", "postgresql://db:port/x"], "no address of a database"),
        (["serve", "FILES", "--url", "http://example.org"], "--url has to begin with https://"),
        (["serve", "FILES", "--host", "203.0.113.1", "--database", "FOLDER/b.db"], "cannot listen on 203.0.113.1"),
        (["serve", "FILES", "--database", "/proc/nowhere/b.db"], "cannot use the database file"),
        (["serve", "--manifest"], "--manifest needs the address of the App"),
    ],
)
def test_wrong_usage_is_told(
    arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [one.replace("FOLDER", str(tmp_path)) for one in arguments]
    if "FILES" in given:
        given[given.index("FILES") : given.index("FILES") + 1] = files(tmp_path)
    assert main(given) == 2
    assert told in capsys.readouterr().err


def test_a_database_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"postgresql://botlint:hunter2@/botlint?host={tmp_path}"
    assert main(["serve", *files(tmp_path), "--port", "0", "--database", url]) == 3
    shown = capsys.readouterr().err
    assert "the database cannot be used" in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    ("key", "secret", "told"),
    [
        ("no key", "a long secret", "no private key in PEM form"),
        ("", "a long secret", "--private-key is missing"),
        (KEY, "short", "fewer than 8 characters"),
        (KEY, "a long secret\nx\n", "fewer than 8 characters"),
        (KEY, " \n", "--webhook-secret is missing"),
    ],
)
def test_wrong_secrets_are_told_but_not_shown(
    key: str, secret: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *files(tmp_path, key, secret)]) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert "MIIabc" not in shown


def test_a_secret_from_the_environment_is_taken_out_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    from botlint.cli.apping import config_of

    monkeypatch.setenv("BOTLINT_PRIVATE_KEY", KEY)
    monkeypatch.setenv("BOTLINT_WEBHOOK_SECRET", "the new secret\nthe old secret")
    config = config_of(
        app_id=1, private_key=None, webhook_secret=None, database="x.db", api=None, url="", accounts=("Acme",),
        resolve_threads=False, smoke=False, slots=4, processes=2, grace=1.0, silence=30.0, log_level="info",
    )  # fmt: skip
    assert config.webhook_secrets == ("the new secret", "the old secret")
    assert config.accounts == frozenset({"acme"})
    assert "BOTLINT_PRIVATE_KEY" not in os.environ
    assert "secret" not in repr(config).replace("webhook_secrets", "")
    assert "MIIabc" not in repr(config)


def test_the_manifest_asks_for_little(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--manifest", "--url", "https://bot.example.org/"]) == 0
    manifest = json.loads(capsys.readouterr().out)
    assert manifest["hook_attributes"]["url"] == "https://bot.example.org/webhook"
    assert manifest["default_permissions"] == {
        "checks": "write",
        "contents": "read",
        "merge_queues": "read",
        "metadata": "read",
        "pull_requests": "write",
    }
    # That about repositories comes by itself, and cannot be asked for.
    assert set(manifest["default_events"]) == set(SUBSCRIBED) - {"installation_repositories"}


def test_a_package_that_is_missing_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "botlint.server.manifest", raising=False)
    monkeypatch.setitem(sys.modules, "botlint.github.app", None)
    assert main(["serve", "--manifest", "--url", "https://bot.example.org"]) == 2
    assert "pip install 'botlint[app]'" in capsys.readouterr().err


def test_the_manifest_of_an_app_that_starts_smoke_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--manifest", "--smoke", "--url", "https://bot.example.org/"]) == 0
    manifest = json.loads(capsys.readouterr().out)
    assert manifest["default_permissions"]["actions"] == "write"
    assert "workflow_run" in manifest["default_events"]


def test_what_the_document_says_of_permissions_and_events_is_so() -> None:
    from botlint.server.manifest import PERMISSIONS

    text = (Path(__file__).parents[2] / "docs" / "app.md").read_text()
    assert "| Actions | read and write |" in text
    assert "Workflow run" in text
    for name, access in PERMISSIONS.items():
        words = {"read": "read", "write": "read and write"}[access]
        assert f"| {name.replace('_', ' ').capitalize()} | {words} |" in text
    for event in SUBSCRIBED:
        if event != "installation_repositories":
            assert event.replace("_", " ").capitalize() in text
