"""Settings: what a file says, and where it is wrong."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from botlint.cli import main
from botlint.cli.init import TEMPLATE
from botlint.core.errors import UsageError
from botlint.core.globs import matches
from botlint.core.ruleinfo import RuleInfo
from botlint.documents.yaml import Schema, load_yaml, to_plain
from botlint.engine.policy import rule_info
from botlint.engine.rules import builtin_rules
from botlint.engine.settings import Settings, SignOff, SmokeSettings, parse_settings, read_settings
from botlint.repo.memory import MemoryFiles

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "schemas" / "settings.schema.json").read_text(encoding="utf-8"))
RULE = RuleInfo("BL201", "backend-unhandled", "launch", "warning", aliases=("old-name",))

FULL = """\
version: 1
fail-level: warning
rules:
  launch: off
  BL201: info
  "old-name": false
paths:
  exclude: [experimental/**, "*.md"]
baseline: ci/baseline.json
require-suppression-reason: true
languages: [en, zh]
layout: inferencex
layout-options: {generator: utils/x.py, depth: 3, strict: true, matrix: {TP: [2, 4]}}
custom-rules: lint/rules
review:
  first-contact: "Welcome!\\nRead this."
  sign-off: {phrase: "As a  PR reviewer", by: write}
  checklist: Checklist
  require-dco: true
"""


def test_everything() -> None:
    settings = parse_settings(FULL)
    assert settings.fail_level == "warning"
    assert {name: one.level for name, one in settings.rules.items()} == {
        "launch": "off",
        "BL201": "info",
        "old-name": "off",
    }
    assert settings.exclude == ("experimental/**", "*.md")
    assert (settings.baseline, settings.custom_rules) == ("ci/baseline.json", "lint/rules")
    assert settings.require_suppression_reason
    assert settings.languages == ("en", "zh")
    assert settings.layout_options == {
        "generator": "utils/x.py",
        "depth": 3,
        "strict": True,
        "matrix": {"TP": [2, 4]},
    }
    review = settings.review
    assert (review.first_contact, review.checklist, review.require_dco) == ("Welcome!\nRead this.", "Checklist", True)
    assert review.sign_off == SignOff("As a PR reviewer", "write")
    assert settings.excludes("experimental/a/b.sh")
    assert not replace(settings, exclude=("**", "*")).excludes("")
    assert not settings.excludes("benchmarks/a.sh")


@pytest.mark.parametrize(
    ("text", "asked_by", "level"),
    [
        ("version: 1\n", "", "warning"),
        ("version: 1\n", "rules", "off"),
        ("version: 1\n", "require-dco", "off"),
        ("version: 1\nreview: {require-dco: true}\n", "require-dco", "warning"),
        ("version: 1\nreview: {require-dco: true}\nrules: {launch: error}\n", "require-dco", "error"),
        ("version: 1\nreview: {sign-off: {phrase: I have looked}}\n", "sign-off", "warning"),
        ("version: 1\nrules: {BL201: info}\n", "rules", "info"),
    ],
)
def test_rules_that_have_to_be_asked_for(text: str, asked_by: str, level: str) -> None:
    assert parse_settings(text).level(replace(RULE, asked_by=asked_by)) == level


@pytest.mark.parametrize(
    ("text", "layouts", "layout", "level"),
    [
        ("version: 1\n", (), "plain", "warning"),
        ("version: 1\n", ("inferencex",), "inferencex", "warning"),
        ("version: 1\n", ("inferencex",), "plain", "off"),
        ("version: 1\n", ("inferencex", "plain"), "plain", "warning"),
        ("version: 1\nrules: {launch: error}\n", ("inferencex",), "plain", "error"),
        ("version: 1\nrules: {BL201: off}\n", ("inferencex",), "inferencex", "off"),
    ],
)
def test_rules_of_one_layout(text: str, layouts: tuple[str, ...], layout: str, level: str) -> None:
    assert parse_settings(text).level(replace(RULE, layouts=layouts), layout) == level


def test_defaults() -> None:
    assert parse_settings("version: 1\n") == Settings()
    assert read_settings(MemoryFiles({})) == Settings()
    assert read_settings(MemoryFiles({".botlint.yaml": "version: 1\nfail-level: info\n"})).fail_level == "info"


@pytest.mark.parametrize("path", [".botlint.yaml", ".botlint/baseline.json", ".botlint/rules/one.yaml"])
@pytest.mark.parametrize("kind", ["link", "link out", "folder", "large", "link above"])
def test_a_file_of_ours_that_is_not_read_is_told(path: str, kind: str, tmp_path: Path) -> None:
    target = tmp_path / path
    target.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "run.sh").write_text("echo\n")
    (tmp_path / "other").write_text("version: 1\n")
    if kind == "large":
        target.write_bytes(b"#" * (9 << 20))
    elif kind == "folder":
        target.mkdir()
        (target / "file").write_text("x")
    elif kind == "link above" and "/" in path:
        (tmp_path / ".botlint").rename(tmp_path / "elsewhere")
        (tmp_path / ".botlint").symlink_to("elsewhere")
        (tmp_path / "elsewhere" / path.removeprefix(".botlint/")).write_text("{}")
    else:
        target.symlink_to("/dev/null" if kind == "link out" else tmp_path / "other")
    listed = path.startswith(".botlint/rules") and kind in ("folder", "link", "link out")
    assert main(["check", str(tmp_path), "--no-cache"]) == (0 if listed else 2)


def test_a_folder_of_rules_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.sh").write_text("echo\n")
    (tmp_path / ".botlint.yaml").write_text("version: 1\ncustom-rules: own\n")
    assert main(["check", str(tmp_path), "--no-cache"]) == 2
    assert "own: there is no such folder" in capsys.readouterr().err


def test_the_written_file_is_the_defaults() -> None:
    assert parse_settings(TEMPLATE) == Settings()
    commented = "\n".join(
        line.replace("# ", "", 1)
        if line.startswith(("# rules:", "#   ", "# paths:", "# layout-o", "# smoke:"))
        else line
        for line in TEMPLATE.replace("#   ", "#   ").splitlines()
    )
    settings = parse_settings(commented)
    assert settings.exclude == ("experimental/**",)
    assert set(settings.rules) == {"shell", "flag-unknown-to-releases"}
    assert settings.smoke == SmokeSettings()
    settings.check_names(map(rule_info, builtin_rules()))


@pytest.mark.parametrize(
    ("files", "layout"),
    [
        ({}, ""),
        ({"run.sh": "echo\n"}, ""),
        ({"run.sh": "vllm serve demo/model\n"}, "plain"),
        ({"configs/demo-master.yaml": "a: {}\n", "run.sh": "vllm serve demo/model\n"}, "inferencex"),
        ({".github/benchmark/models.json": '{"models": [{"path": "demo/m", "variants": []}]}'}, "atom"),
        ({"strategies/a.yaml": "a: 1\n", "taxonomy.yaml": "a: 1\n", "models/o/m.yaml": "model: {}\n"}, "vllm-recipes"),
    ],
)  # fmt: skip
def test_the_written_file_names_the_layout(files: dict[str, str], layout: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert main(["init", str(tmp_path)]) == 0
    text = (tmp_path / ".botlint.yaml").read_text(encoding="utf-8")
    assert parse_settings(text) == Settings(layout=layout)
    if layout == "plain":
        told = re.sub(r"^# (?=layout-options:|  )", "", text.split("layout: plain\n")[1], flags=re.MULTILINE)
        options = told[: told.index("# Rules of")]
        assert parse_settings(f"version: 1\n{options}").layout_options == {
            "scripts": ["serve/*.sh"],
            "matrix": {"MODEL": ["org/model"], "TP": [4, 8]},
        }


def test_the_page_about_settings_names_rules_that_exist() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    settings = parse_settings(page.split("```yaml\n")[1].split("```")[0])
    infos = [rule_info(rule) for rule in builtin_rules()]
    settings.check_names(infos)
    known = {name for info in infos for name in info.names}
    assert set(re.findall(r"ignore\[([a-z-]+)\]", page)) <= known


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "`version: 1`"),
        ("- a\n", "1:1", "the settings are a mapping"),
        ("fail-level: error\n", "1:1", "`version: 1` is missing"),
        ("version: 2\n", "1:10", "reads version 1"),
        ("version: '1'\n", "1:10", "reads version 1"),
        ("version: true\n", "1:10", "reads version 1"),
        ("version: 1\nfail-levle: error\n", "2:1", "did you mean 'fail-level'?"),
        ("version: 1\nfail-level: never\n", "2:13", "one of error, warning, info, got 'never'"),
        ("version: 1\nrules: [a]\n", "2:8", "expected a mapping, got a list"),
        ("version: 1\nrules:\n  a: on\n", "3:6", "one of off, error, warning, info, got 'on'"),
        ("version: 1\nrules:\n  1: off\n", "3:3", "expected a name"),
        ("version: 1\npaths: {include: []}\n", "2:9", "no setting 'include'"),
        ("version: 1\npaths: {exclude: a}\n", "2:18", "expected a list, got 'a'"),
        ("version: 1\npaths: {exclude: [1]}\n", "2:19", "expected a text, got '1'"),
        ("version: 1\npaths: {exclude: ['']}\n", "2:19", "expected a glob"),
        ("version: 1\nbaseline: ../x\n", "2:11", "a path inside the repository"),
        ("version: 1\nbaseline: /x\n", "2:11", "a path inside the repository"),
        ("version: 1\ncustom-rules: .git/x\n", "2:15", "a path inside the repository"),
        ("version: 1\nbaseline: {a: b}\n", "2:11", "expected a text, got a mapping"),
        ("version: 1\nreview: {sign-off: {by: write}}\n", "2:20", "`phrase` is missing"),
        ("version: 1\nreview: {sign-off: {phrase: LGTM}}\n", "2:29", "at least 8 characters"),
        ("version: 1\nreview: {checklist: ' '}\n", "2:21", "a text of 1 to"),
        ("version: 1\nrequire-suppression-reason: 1\n", "2:29", "one of True, False, got '1'"),
        ("version: 1\nlanguages: []\n", "2:12", "one or more"),
        ("version: 1\nlanguages: [en, en]\n", "2:12", "different"),
        ("version: 1\nlanguages: [de]\n", "2:13", "one of en, zh"),
        ("version: 1\nlayout: other\n", "2:9", "one of inferencex"),
        ("version: 1\nlayout-options: {a: {1: b}}\n", "2:22", "expected a name"),
        ("version: 1\nlayout-options: {a: [[[[[1]]]]]}\n", "2:25", "nested too deeply"),
        (
            "version: 1\nlayout-options: {a: &a [1, 1, 1, 1, 1, 1, 1, 1], b: &b [*a, *a, *a, *a, *a, *a, *a, *a], "
            "c: &c [*b, *b, *b, *b, *b, *b, *b, *b], d: [*c, *c]}\n",
            "2:28",
            "more than 1000 values",
        ),
        ("version: 1\nversion: 1\n", "2:1", "already on line 1"),
        ("version: 1\nsmoke: true\n", "2:8", "expected a mapping, got 'true'"),
        ("version: 1\nsmoke: {max-jobs: 9}\n", "2:19", "a number from 1 to 8, got '9'"),
        ("version: 1\nsmoke: {timeout: 0}\n", "2:18", "a number from 1 to 1440"),
        ("version: 1\nsmoke: {workflow: ../x.yml}\n", "2:19", "a file in .github/workflows"),
        ("version: 1\nsmoke: {workflow: x.sh}\n", "2:19", "a file in .github/workflows"),
        ("version: 1\nsmoke: {runners: []}\n", "2:18", "one or more globs"),
        ("version: 1\nsmoke: {label: ' a'}\n", "2:16", "at most 50 characters"),
        ("version: 1\nrules: {\n", "3:1", ""),
        ("version: 1\n" + "#" * 300_000, "1:1", "more than 200000"),
    ],
)
def test_wrong_settings_have_a_place(text: str, place: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_settings(text)
    assert str(caught.value).startswith(f".botlint.yaml:{place}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        FULL,
        TEMPLATE,
        "version: 1\n",
        "version: 2\n",
        "fail-level: error\n",
        "version: 1\nx: 1\n",
        "version: 1\nrules: {a: bad}\n",
        "version: 1\nrules: {a: false}\n",
        "version: 1\nbaseline: a/../b\n",
        "version: 1\nbaseline: .GIT/b\n",
        "version: 1\nlanguages: []\n",
        "version: 1\nlayout-options: []\n",
        "version: 1\npaths: {exclude: ['']}\n",
        "version: 1\nrequire-suppression-reason: 'yes'\n",
        "version: 1\nsmoke: {}\n",
        "version: 1\nsmoke: {label: '', workflow: a.yaml, automatic: true, runners: [x], max-jobs: 8, max-gpus: 64}\n",
        "version: 1\nsmoke: {label: ' a'}\n",
        "version: 1\nsmoke: {workflow: ../x.yml}\n",
        "version: 1\nsmoke: {runners: []}\n",
        "version: 1\nsmoke: {queue-timeout: 1441}\n",
        "version: 1\nsmoke: true\n",
    ],
)
def test_the_schema_says_the_same(text: str) -> None:
    value = to_plain(load_yaml(text, "f", Schema.CORE).root)
    try:
        parse_settings(text)
        valid = True
    except UsageError:
        valid = False
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(value) is valid


@pytest.mark.parametrize(
    ("rules", "level"),
    [
        ("{}", "warning"),
        ("{launch: off}", "off"),
        ("{launch: off, BL201: info}", "info"),
        ("{old-name: error, launch: off}", "error"),
        ("{backend-unhandled: error, BL201: info}", "error"),
        ("{other: off}", "warning"),
    ],
)
def test_the_most_exact_name_counts(rules: str, level: str) -> None:
    assert parse_settings(f"version: 1\nrules: {rules}\n").level(RULE) == level


def test_names_that_do_not_exist() -> None:
    settings = parse_settings("version: 1\nrules:\n  backend-unhandeld: off\n")
    with pytest.raises(UsageError, match=r"\.botlint\.yaml:3:3: .* did you mean 'backend-unhandled'\?"):
        settings.check_names([RULE])
    parse_settings("version: 1\nrules: {launch: off, BL201: off, old-name: off}\n").check_names([RULE])


@pytest.mark.parametrize(("level", "fails"), [("error", [1, 0, 0]), ("warning", [1, 1, 0]), ("info", [1, 1, 1])])
def test_fail_level(level: str, fails: list[int]) -> None:
    settings = parse_settings(f"version: 1\nfail-level: {level}\n")
    assert [int(settings.fails(one)) for one in ("error", "warning", "info")] == fails


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("a/b.sh", "a/b.sh", "x/a/b.sh"),
        ("b.sh", "a/b.sh", "a/xb.sh"),
        ("*.sh", "a/b.sh", "a/b.shx"),
        ("a/*.sh", "a/b.sh", "a/c/b.sh"),
        ("a/**/*.sh", "a/c/d/b.sh", "c/b.sh"),
        ("a/**/*.sh", "a/b.sh", "a/b"),
        ("a", "a/b/c", "ab/c"),
        ("a/", "x/a/b", "ab"),
        ("/a", "a/b", "x/a"),
        ("**/x", "a/b/x", "a/bx"),
        ("a/**", "a/b/c", "a"),
        ("?b/*", "ab/c", "b/c"),
        ("a*b*c/d", "aXXbYYc/d", "aXXbYY/d"),
    ],
)
def test_globs(pattern: str, yes: str, no: str) -> None:
    assert matches(pattern, yes)
    assert not matches(pattern, no)


def test_a_hostile_glob_is_quick() -> None:
    assert not matches("/".join(["**", "*a" * 20] * 8), "/".join(["a" * 200 + "b"] * 40))


# --- botlint init


def test_init_writes_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path)]) == 0
    target = tmp_path / ".botlint.yaml"
    assert target.read_text(encoding="utf-8") == TEMPLATE
    target.write_text("version: 1\n", encoding="utf-8")
    assert main(["init", str(tmp_path)]) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert target.read_text(encoding="utf-8") == "version: 1\n"
    assert main(["init", str(tmp_path), "--force"]) == 0
    assert target.read_text(encoding="utf-8") == TEMPLATE


def test_init_follows_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / ".botlint.yaml").symlink_to(outside)
    assert main(["init", str(tmp_path / "r"), "--force"]) == 2
    assert not outside.exists()


def test_init_to_the_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["init", str(tmp_path), "-o", "-"]) == 0
    assert capsys.readouterr().out == TEMPLATE
