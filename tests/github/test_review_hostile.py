"""Pull requests that mean harm: read as data, told as text, and always concluded."""

from __future__ import annotations

import logging
import re
import time
from pathlib import Path

import pytest
from fakehub import Executable, FakeGitHub, Link, Pull, Repository, Submodule
from fakehub.git import Content
from fakehub.seed import CHANGELOG, CONFIG, LAYOUT, RECIPE, healthy_files, plant
from reviewing import MARKER, MAX_CALLS, SUMMARY, Bot, install, open_findings

from botlint.github.analysis import Kept

SECONDS = 60
"""More than any review here takes on a slow machine, and less than what these files are made to take."""


def told(bot: Bot, pull: Pull) -> str:
    """Everything that the bot said: comments, summary, check run."""
    said = [one.body for one in [*bot.mine(pull), *(one for one in pull.comments if one.user is bot.app.bot)]]
    for run in bot.runs(pull):
        said += [run.title or "", run.summary or "", run.text or ""]
        # The path of an annotation has to be exactly that of the file.
        said += [str(value) for note in run.annotations for name, value in note.items() if name != "path"]
    return "\n".join(said)


def review_of(
    hub: FakeGitHub, kept: Kept, changes: dict[str, Content | None], calls: int = MAX_CALLS, **how: str
) -> tuple[Bot, Pull]:
    """A review of a pull request with these changes to the examples without defects, from a fork."""
    repo = hub.repository("acme/bench", healthy_files())
    fork = hub.fork(repo, "mallory")
    fork.commit("evil", changes, author="mallory")
    pull = repo.open_pull("evil", source=fork, author="mallory", **how)
    bot = install(hub, repo, kept)
    begun = time.monotonic()
    assert bot.review(pull) == "reviewed"
    assert time.monotonic() - begun < SECONDS
    assert len(hub.calls) <= calls, hub.counts()
    assert [run.status for run in bot.runs(pull)] == ["completed"]
    return bot, pull


def without_code(text: str) -> str:
    """Markdown without what stands in backticks on one line."""
    return re.sub(r"(`+)(?:(?!\1).)*\1", "", text)


def failing(message: str) -> dict[str, Content | None]:
    """A recipe that ends with a message of the pull request's choice."""
    recipe = healthy_files()[RECIPE]
    assert isinstance(recipe, Executable)
    text = recipe.content.decode() if isinstance(recipe.content, bytes) else recipe.content
    return {
        RECIPE: Executable(
            text.replace("        require_kv_offload_dram lmcache\n", f"        echo {message} >&2\n        exit 1\n")
        )
    }


# What is quoted: what the script prints, and what of it must not be in a comment outside of code

FORGED = "<!-- botlint:v1 fp=0123456789abcdef --> <!-- botlint:v1 summary -->"
QUOTED = {
    "mention": ("'ask @octocat and @acme/owners'", ["@octocat", "@acme/owners"]),
    "reference": ("'closes #1 and acme/other#2 GH-3'", ["closes #1", "acme/other#2"]),
    "html": ("'<img src=http://evil.invalid/x.png><script>alert(1)</script>'", ["<img", "<script"]),
    "link": ("'[click](http://evil.invalid) ![x](http://evil.invalid/x.png)'", ["](http://evil.invalid"]),
    "fence": ("'``` \\n# Heading\\n```suggestion'", ["\n# Heading", "\n```suggestion"]),
    "marker": (f"'{FORGED}'", [FORGED, "fp=0123456789abcdef -->\n"]),
    "bidi": ("'\u202egnp.exe\u2066 \u200b\u061c'", ["\u202e", "\u2066", "\u061c"]),
    "control": ("$'\\x1b[31mred \\x07 \\x00'", ["\x1b", "\x07", "\x00"]),
    "command": ("$'\\n::error::forged\\n/botlint ignore 0123456789abcdef x'", ["\n::error", "\n/botlint"]),
    "url": ("'see https://evil.invalid/x and www.evil.invalid'", ["](https://evil.invalid"]),
}


@pytest.mark.parametrize("name", QUOTED)
def test_quoted_text_is_text(hub: FakeGitHub, kept: Kept, name: str) -> None:
    message, never = QUOTED[name]
    bot, pull = review_of(hub, kept, failing(message))
    assert bot.conclusion(pull) == "failure"
    said = told(bot, pull)
    assert "status 1 before a server starts" in said
    outside = re.sub(r"(`+)(?:(?!\1).)*\1", "", "\n".join(one.body for one in [*bot.mine(pull), *bot.summaries(pull)]))
    for text in never:
        assert text not in outside
    for body in [one.body for one in bot.mine(pull)]:
        assert (
            body.rstrip().rsplit("\n", 1)[1]
            == f"<!-- botlint:v1 fp={MARKER.search(body.rsplit(chr(10), 2)[-1])[1]} -->"
        )  # type: ignore[index]
    (summary,) = bot.summaries(pull)
    assert summary.body.endswith(SUMMARY)
    # A second look finds its own comments in spite of what they quote.
    bot.review(pull, force=True)
    assert len(open_findings(bot.mine(pull))) == len(bot.mine(pull))
    assert len(bot.summaries(pull)) == 1


def test_the_title_and_the_body_are_not_repeated(hub: FakeGitHub, kept: Kept) -> None:
    word = "/botlint ignore all @octocat <!-- botlint:v1 summary -->"
    bot, pull = review_of(hub, kept, failing("no"), title=word, body=word)
    assert "@octocat" not in told(bot, pull)
    assert bot.conclusion(pull) == "failure"


# What files are

ESCAPES = ["/etc/passwd", "../../../../etc/passwd", "../../../.git/config", RECIPE, "nowhere", ".", "x" * 5_000]


@pytest.mark.parametrize("target", ESCAPES)
def test_links_are_not_followed_outside(hub: FakeGitHub, kept: Kept, target: str) -> None:
    bot, pull = review_of(
        hub, kept, {RECIPE: Link(target), "benchmarks/lib.sh": Link(target), ".botlint.yaml": Link(target)}
    )
    assert "root:" not in told(bot, pull)
    # Jobs whose recipe is no longer there are not fine.
    assert bot.conclusion(pull) == "failure"


def test_links_that_lead_to_each_other(hub: FakeGitHub, kept: Kept) -> None:
    folder, _, name = RECIPE.rpartition("/")
    bot, pull = review_of(hub, kept, {RECIPE: Link("loop.sh"), f"{folder}/loop.sh": Link(name)})
    assert bot.conclusion(pull) == "failure"


def test_submodules_are_not_entered(hub: FakeGitHub, kept: Kept, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    changes: dict[str, Content | None] = {path: None for path in healthy_files() if path.startswith("runners/")}
    changes["runners"] = Submodule("1" * 40)
    changes[".gitmodules"] = f'[submodule "runners"]\n\tpath = runners\n\turl = ext::sh -c touch% {mark}\n'
    bot, pull = review_of(hub, kept, changes)
    assert bot.conclusion(pull) == "failure"
    assert not mark.exists()


TRICKS = [
    "../outside.sh",
    "benchmarks/../../outside.sh",
    ".git/config",
    ".GIT/hooks/post-checkout",
    "benchmarks/.git/hooks/pre-commit",
    "-rf.sh",
    "--upload-pack=touch x.sh",
    "benchmarks/new\nline.sh",
    "benchmarks/tab\there.yaml",
    "benchmarks/\u202etxt.sh",
    "benchmarks/back\\..\\slash.sh",
    "benchmarks/C:\\x.sh",
    "benchmarks/%2e%2e/%2fetc.sh",
    "benchmarks/?query#fragment.sh",
    "benchmarks/{owner}.sh",
    "benchmarks/" + "d/" * 400 + "deep.sh",
    "benchmarks/" + "n" * 3_000 + ".sh",
    "configs/ space .yaml",
    "configs/null\u0000byte.yaml",
    "~/.ssh/authorized_keys",
    "benchmarks/@octocat`<b>.sh",
]


API = re.compile(r"/repos/acme/bench(/(pulls|issues|compare|commits|check-runs|git/(trees|blobs))(/[0-9a-zA-Z_.-]+)*)?")


def test_names_are_data(hub: FakeGitHub, kept: Kept) -> None:
    bot, pull = review_of(hub, kept, dict.fromkeys(TRICKS, "#!/bin/bash\nvllm serve m --tensor-paralel-size 2\n"))
    assert bot.conclusion(pull) == "failure"
    # No name of a file gets into an address.
    assert not [one.path for one in hub.calls if one.operation != "graphql" and not API.fullmatch(one.path)]
    said = told(bot, pull)
    assert "\u202e" not in said
    assert "<b>" not in without_code("\n".join(one.body for one in bot.mine(pull)))


SCRIPTS = {
    "nul": b"\0" * 100,
    "utf-16": b"\xff\xfe#\0!\0",
    "byte order mark": "\ufeff#!/bin/bash\nexit 1\n".encode(),
    "crlf": b"#!/bin/bash\r\nexit 1\r\n",
    "cr": b"#!/bin/bash\rexit 1\r",
    "latin-1": b"#!/bin/bash\necho caf\xe9\nexit 1\n",
    "long line": b"#!/bin/bash\n" + b"x" * 200_000 + b"\n",
    "substitutions": b"#!/bin/bash\n" + b"$(" * 5_000,
    "conditions": b"#!/bin/bash\n" + b"if true; then\n" * 1_000,
    "here-document": b"#!/bin/bash\ncat <<E\n" + b"a\n" * 50_000,
    "endless loop": b"#!/bin/bash\nwhile :; do :; done\n",
    "fork bomb": b"#!/bin/bash\n:(){ :|:& };:\n",
    "itself": b'#!/bin/bash\nsource "$0"\n',
    "doubling": b"#!/bin/bash\nx=1\n" + b'x="$x$x"\n' * 60 + b'export BIG="$x"\n',
    "empty": b"",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_of_any_bytes(hub: FakeGitHub, kept: Kept, name: str) -> None:
    bot, pull = review_of(hub, kept, {RECIPE: Executable(SCRIPTS[name])})
    assert bot.conclusion(pull) in ("failure", "neutral")


ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(11)
)
ENDLESS = """
x:
  image: i
  model: m
  model-prefix: m
  runner: mi355x
  precision: fp4
  framework: vllm
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 1024
      osl: 1024
      search-space:
      - { tp: 1, conc-start: 1, conc-end: 99999999999999999999 }
"""
BOMBS = {
    "aliases": ALIASES,
    "deep": "[" * 100_000,
    "deep block": "".join(f"{' ' * n}a:\n" for n in range(1_000)),
    "python": "x: !!python/object/apply:os.system ['touch MARK']\n",
    "merge of itself": "a: &a\n  <<: *a\n",
    "many keys": "".join(f"k{n}: 1\n" for n in range(5_000)),
    "one key again and again": "a: 1\n" * 1_000,
    "endless jobs": ENDLESS,
    "expression": "${{ " + "format('{0}', " * 500 + "1" + ")" * 500 + " }}",
    "tabs": "\t- a\n\t\tb",
    "documents": "---\n" * 10_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_yaml_that_grows(hub: FakeGitHub, kept: Kept, tmp_path: Path, name: str) -> None:
    mark = tmp_path / "ran"
    text = BOMBS[name].replace("MARK", str(mark))
    paths = [CONFIG, ".github/workflows/evil.yml", "configs/runners.yaml", CHANGELOG]
    bot, pull = review_of(hub, kept, dict.fromkeys(paths, text), calls=60)
    assert bot.conclusion(pull) == "failure"
    assert not mark.exists()


def test_huge_files_are_not_read(hub: FakeGitHub, kept: Kept) -> None:
    huge = "# " + "x" * 99 + "\n"
    changes: dict[str, Content | None] = {
        CONFIG: huge * 120_000,
        "benchmarks/huge.sh": "#!/bin/bash\n" + huge * 120_000,
        "results/data.json": huge * 300_000,
        **{f"benchmarks/many/{number:03}.sh": f"#!/bin/bash\necho {number}\n" for number in range(300)},
    }
    bot, pull = review_of(hub, kept, changes)
    big = {
        pull.repository.objects.blob(one.encode())
        for one in changes.values()
        if isinstance(one, str) and len(one) > 8 << 20
    }
    asked = [one.path.rpartition("/")[2] for one in hub.made("git/get-blob")]
    asked += re.findall(r"[0-9a-f]{40}", " ".join(str(one.body) for one in hub.made("graphql")))
    assert not big & set(asked)
    assert bot.conclusion(pull) in ("failure", "neutral")
    assert "more than" in told(bot, pull)


# What decides


SETTINGS = """version: 1
fail-level: error
rules:
  shuffled-kv-heads: off
  job-exits: off
paths:
  exclude: ["**"]
review:
  max-inline-comments: 0
"""
RULE = """id: X1
name: evil
severity: error
scope: file
view: script
require: 'false'
message: "@octocat"
"""


def test_settings_of_the_pull_request_do_not_count(hub: FakeGitHub, kept: Kept) -> None:
    """They are told, for every later pull request would be judged by them."""
    more: dict[str, Content | None] = {
        ".botlint.yaml": SETTINGS,
        ".botlint/baseline.json": '{"schema": "botlint.baseline/1", "findings": []}',
    }
    seed = plant(hub, fork="mallory", more=more)
    bot = install(hub, seed.repository, kept)
    bot.review(seed.pull)
    assert bot.conclusion(seed.pull) == "failure"
    assert {one.path for one in bot.mine(seed.pull)} == {RECIPE, ".botlint.yaml"}
    said = [one.body for one in bot.mine(seed.pull) if one.path == ".botlint.yaml"]
    for name in ("shuffled-kv-heads", "job-exits"):
        assert any("weakens the settings" in body and name in body for body in said)


def test_rules_of_the_pull_request_do_not_count(hub: FakeGitHub, kept: Kept) -> None:
    seed = plant(hub, fork="mallory", more={".botlint/rules/evil.yaml": RULE})
    bot = install(hub, seed.repository, kept)
    bot.review(seed.pull)
    titles = {note["title"] for note in bot.runs(seed.pull)[0].annotations}
    assert {"shuffled-kv-heads", "job-exits"} <= titles
    assert "evil" not in titles
    assert "@octocat" not in without_code("\n".join(one.body for one in bot.mine(seed.pull)))


def test_broken_settings_of_the_pull_request_do_not_count(hub: FakeGitHub, kept: Kept) -> None:
    seed = plant(hub, fork="mallory", more={".botlint.yaml": BOMBS["aliases"], ".botlint/rules/x.yaml": "[" * 9_999})
    bot = install(hub, seed.repository, kept)
    assert bot.review(seed.pull) == "reviewed"
    assert bot.conclusion(seed.pull) == "failure"
    assert len(open_findings(bot.mine(seed.pull))) >= 2


@pytest.mark.parametrize(
    "text", ["fail-level: none\n", "[" * 5_000, "rules: {nothing-of-that-name: off}\nversion: 1\n"]
)
def test_broken_settings_of_the_base_are_told(hub: FakeGitHub, kept: Kept, text: str) -> None:
    seed = plant(hub, base={".botlint.yaml": text})
    bot = install(hub, seed.repository, kept)
    assert bot.review(seed.pull) == "reviewed"
    assert bot.conclusion(seed.pull) in ("neutral", "failure", "action_required")
    assert ".botlint.yaml" in told(bot, seed.pull)


# Nothing is run, and no token is told


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Everything that any library logs."""
    caplog.set_level(logging.DEBUG)
    for name in ("github.Requester", "urllib3", "botlint", "httpx"):
        caplog.set_level(logging.DEBUG, name)
    return caplog


def test_nothing_is_run(hub: FakeGitHub, kept: Kept, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    touch = f"touch {mark}"
    changes: dict[str, Content | None] = {
        RECIPE: Executable(f"#!/bin/bash\n{touch}\nX=$({touch}; echo 1)\neval '{touch}'\n. <({touch})\nexit 1\n"),
        "sitecustomize.py": f"import os\nos.system({touch!r})\n",
        "conftest.py": f"import os\nos.system({touch!r})\n",
        ".botlint/rules/run.yaml": RULE.replace("'false'", f"\"system('{touch}')\""),
        ".github/workflows/run.yml": f"on: pull_request\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: {touch}\n",
        ".envrc": touch,
    }
    bot, pull = review_of(hub, kept, changes)
    assert bot.conclusion(pull) == "failure"
    assert not mark.exists()


def test_no_token_is_told(hub: FakeGitHub, kept: Kept, logged: pytest.LogCaptureFixture) -> None:
    from fakehub import faults

    from botlint.github.app import App

    seed = plant(hub)
    bot = install(hub, seed.repository, kept)
    app = App(bot.app.id, bot.app.private_key, base_url=hub.api, sleep=bot.slept.append)
    client = app.client(bot.installation.id, "acme/bench", identity=bot.me)
    hub.fail("pulls/list-files", faults.bad_gateway())
    hub.fail("issues/create-comment", faults.dropped(done=True))
    assert bot.review(seed.pull, client=client) == "reviewed"
    secrets = [*hub.tokens, bot.app.private_key.splitlines()[1]]
    assert len(secrets) >= 2
    shown = logged.text + told(bot, seed.pull) + repr(client) + repr(app) + repr(vars(client))
    for secret in secrets:
        assert secret not in shown
    assert not re.search(r"gh[pousr]_[0-9A-Za-z]{20}|eyJ[0-9A-Za-z_-]{10,}\.|PRIVATE KEY", shown)
    # The token reached one repository, for what a review needs.
    used = {one.token for one in hub.calls if one.token is not None}
    assert {one.repositories for one in used} == {frozenset({seed.repository.id})}
    assert all(set(one.permissions) <= {"metadata", "contents", "pull_requests", "checks"} for one in used)
    assert all(one.permissions["contents"] == "read" for one in used)


# Many


def many_faults(number: int) -> str:
    return "#!/bin/bash\n" + "".join(f"vllm serve m --tensor-paralel-size {one}\n" for one in range(number))


def test_many_findings_are_ranked_and_capped(hub: FakeGitHub, kept: Kept) -> None:
    repo = hub.repository("acme/bench", {"README.md": "x\n"})
    repo.commit("many", {f"benchmarks/single_node/x{number}.sh": many_faults(12) for number in range(12)})
    pull = repo.open_pull("many")
    bot = install(hub, repo, kept)
    assert bot.review(pull) == "reviewed"
    assert len(bot.mine(pull)) <= 30
    assert hub.count("pulls/create-review") == 1
    assert len(hub.calls) <= MAX_CALLS, hub.counts()
    (run,) = bot.runs(pull)
    assert run.conclusion == "failure"
    assert len(run.annotations) > 50
    assert max(len(one.body["output"].get("annotations", ())) for one in hub.made("checks/update")) <= 50
    assert len(bot.summaries(pull)[0].body) < 65_536
    hub.forget()
    assert bot.review(pull, force=True) == "reviewed"
    assert hub.count("pulls/create-review.*") == hub.count("issues/create-comment") == 0
    assert len({str(one) for one in run.annotations}) == len(run.annotations)


def test_a_repository_that_is_empty(hub: FakeGitHub, kept: Kept) -> None:
    repo: Repository = hub.repository("acme/bench", {"README.md": "x\n"})
    repo.commit("none", {"README.md": None})
    pull = repo.open_pull("none")
    bot = install(hub, repo, kept)
    assert bot.review(pull) == "reviewed"
    assert bot.conclusion(pull) == "success"


def test_suppressed_by_the_pull_request_itself(hub: FakeGitHub, kept: Kept) -> None:
    seed = plant(hub, fork="mallory")
    seed.pull.push({RECIPE: seed.recipe.replace(LAYOUT, f"{LAYOUT}  # botlint: ignore[shuffled-kv-heads] -- trust me")})
    bot = install(hub, seed.repository, kept)
    bot.review(seed.pull)
    # A comment in the script is seen by who reviews it; what it hides is told.
    assert bot.conclusion(seed.pull) == "failure"
    assert "Allowed by comments or by the baseline: 1 finding." in bot.summaries(seed.pull)[0].body
