"""The package as a user meets it: what is installed, the command line's frame, exit codes, start-up cost."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import botlint
import botlint.cli
from botlint.cli import COMMANDS, Registration, main, run
from botlint.cli.common import Settings, common_options
from botlint.core.errors import BotlintError, CannotFinish, NothingToCheck, UsageError

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SAMPLE = "sample"


def run_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), **environment},
    )


def raising(error: BaseException) -> Callable[[], None]:
    def body() -> None:
        raise error

    return body


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], int | None]], None]:
    """Register a command named `sample` that calls the given function."""

    def register(body: Callable[[], int | None]) -> None:
        @click.command()
        @common_options
        def command(settings: Settings) -> int | None:
            return body()

        monkeypatch.setattr(sys.modules[__name__], "command", command, raising=False)
        monkeypatch.setitem(COMMANDS, SAMPLE, Registration(f"{__name__}:command", "Only here."))

    return register


# --- what is installed


def test_version_is_the_same_everywhere() -> None:
    assert importlib.metadata.version("botlint") == botlint.__version__


def test_console_script_points_at_run() -> None:
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="botlint")
    assert script.load() is run


def test_the_package_is_the_command() -> None:
    done = run_process("-m", "botlint", "--version")
    assert (done.returncode, done.stdout) == (0, f"botlint {botlint.__version__}\n")


@pytest.mark.parametrize("folder", ["bot", "rules", "schemas"])
def test_every_python_folder_is_packaged(folder: str) -> None:
    names = {"bot": "botlint", "rules": "botlint.rules", "schemas": "botlint.schemas"}
    found = {
        ".".join((names[folder], *init.parent.relative_to(ROOT / folder).parts))
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert found <= set(PYPROJECT["tool"]["setuptools"]["packages"])


@pytest.mark.slow
def test_wheel_has_code_data_and_nothing_else_at_the_top(tmp_path: Path) -> None:
    built = run_process("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT))
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"botlint", f"botlint-{botlint.__version__}.dist-info"}
    assert "botlint/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    for folder in ("schemas", "rules"):
        shipped = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.json")}
        assert {f"botlint/{path}" for path in shipped} <= set(names)


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")], ids=lambda path: path.name)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = {target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target}
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


def test_readme_names_every_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`botlint {name} " not in readme] == []
    assert readme.index("make demo") < readme.index("make test") < 200


# --- start-up


def test_version_imports_nothing_heavy() -> None:
    listing = run_process(
        "-c",
        "import sys; from botlint.cli import main; status = main(['--version']); "
        "print(*sys.modules, sep='\\n'); sys.exit(status)",
    )
    assert listing.returncode == 0, listing.stderr
    version, *modules = listing.stdout.splitlines()
    assert version == f"botlint {botlint.__version__}"
    roots = {module.split(".")[0] for module in modules}
    assert not roots & {
        "yaml",
        "tree_sitter",
        "jsonschema",
        "referencing",
        "asyncio",
        "http",
        "subprocess",
        "ssl",
        "json",
    }
    assert {module for module in modules if module.startswith("botlint")} == {
        "botlint",
        "botlint.cli",
        "botlint.cli.common",
        "botlint.core",
        "botlint.core.errors",
    }
    assert len(modules) <= 230


# --- commands and options


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_loads_and_has_the_global_options(name: str) -> None:
    module, _, attribute = COMMANDS[name].target.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert isinstance(command, click.Command)
    for single in command.commands.values() if isinstance(command, click.Group) else (command,):
        flags = {flag for parameter in single.params for flag in parameter.opts}
        assert {"--no-cache", "--no-color", "--quiet", "--verbose", "--output"} <= flags, single.name


def test_help_lists_the_commands_without_importing_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    output = capsys.readouterr().out
    for name, registration in COMMANDS.items():
        assert name in output
        assert registration.summary in output
    listing = run_process(
        "-c", "import sys; from botlint.cli import main; main(['--help']); sys.exit('botlint.cli.plan' in sys.modules)"
    )
    assert listing.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([SAMPLE], Settings()),
        ([SAMPLE, "--no-cache", "-q"], Settings(cache=False, quiet=True)),
        (["--no-cache", "-v", SAMPLE, "--no-color"], Settings(cache=False, color=False, verbose=True)),
        (["-o", "first", SAMPLE, "-o", "second"], Settings(output="second")),
        (["-o", "first", SAMPLE], Settings(output="first")),
    ],
)
def test_global_options_before_and_after_the_command(
    arguments: list[str], expected: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Settings] = []

    @click.command()
    @common_options
    def command(settings: Settings) -> None:
        seen.append(settings)

    monkeypatch.setattr(sys.modules[__name__], "command", command, raising=False)
    monkeypatch.setitem(COMMANDS, SAMPLE, Registration(f"{__name__}:command", "Only here."))
    assert main(arguments) == 0
    assert seen == [expected]


# --- exit codes


@pytest.mark.parametrize("status", [0, 1, 4])
def test_exit_code_is_what_the_command_returns(status: int, sample: Callable[..., None]) -> None:
    sample(lambda: status)
    assert main([SAMPLE]) == status


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BotlintError("lost"), 3),
        (UsageError("lost"), 2),
        (CannotFinish("lost"), 3),
        (NothingToCheck("lost"), 4),
        (RuntimeError("lost"), 3),
        (RecursionError("lost"), 3),
        (OSError(28, "lost"), 3),
        (KeyboardInterrupt(), 130),
    ],
)
@pytest.mark.parametrize("debug", [False, True])
def test_exit_code_and_message_of_an_error(
    error: BaseException,
    status: int,
    debug: bool,
    sample: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BOTLINT_DEBUG", "1" if debug else "0")
    sample(raising(error))
    assert main([SAMPLE]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith("botlint: ")
    assert ("Traceback" in captured.err) is (debug and status != 130)
    if status != 130:
        assert "lost" in captured.err


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ([], "Usage:"),
        (["plna"], "did you mean 'plan'?"),
        (["zzz"], "plan, diff"),
        (["--no-such-option"], "--no-such-option"),
        ([SAMPLE, "--output"], "--output"),
    ],
)
def test_wrong_usage_is_2(
    arguments: list[str], hint: str, sample: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    sample(lambda: 0)
    assert main(arguments) == 2
    assert hint in capsys.readouterr().err


SPEAKER = """
import sys, click, types
from botlint.cli import COMMANDS, Registration, main
from botlint.cli.common import Settings, common_options

@click.command()
@common_options
def command(settings):
    with settings.open_output() as stream:
        for _ in range(int(sys.argv[1])):
            stream.write("caf\\u00e9 \\udc80 " + "x" * 100 + "\\n")

sys.modules["speaker"] = types.ModuleType("speaker")
sys.modules["speaker"].command = command
COMMANDS["speak"] = Registration("speaker:command", "")
sys.exit(main(["speak", *sys.argv[2:]]))
"""


def test_reader_that_goes_away_is_no_stack_trace() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SPEAKER, "20000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_3() -> None:
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-c", SPEAKER, "1"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert process.returncode == 3
    assert process.stderr == "botlint: error: No space left on device\n"


def test_any_text_can_be_written_in_any_locale() -> None:
    process = run_process("-c", SPEAKER, "1", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("caf\\xe9 \\udc80")


def test_output_file_gets_the_result(tmp_path: Path) -> None:
    target = tmp_path / "result"
    process = run_process("-c", SPEAKER, "1", "--output", str(target))
    assert (process.returncode, process.stdout) == (0, "")
    assert target.read_text(encoding="utf-8").startswith("café \\udc80 xxx")


def test_output_file_that_cannot_be_written_is_2(tmp_path: Path) -> None:
    process = run_process("-c", SPEAKER, "1", "--output", str(tmp_path / "absent" / "result"))
    assert process.returncode == 2
    assert "cannot write" in process.stderr


@pytest.mark.parametrize(
    ("settings", "environment", "colored"),
    [
        (Settings(), {}, False),
        (Settings(), {"FORCE_COLOR": "1"}, True),
        (Settings(), {"CLICOLOR_FORCE": "1"}, True),
        (Settings(), {"FORCE_COLOR": "0"}, False),
        (Settings(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (Settings(color=False), {"FORCE_COLOR": "1"}, False),
        (Settings(output="file"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_color(settings: Settings, environment: dict[str, str], colored: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert settings.use_color() is colored


def test_notes_go_to_stderr_unless_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    Settings().note("read 3 files")
    Settings().detail("hidden")
    Settings(verbose=True).detail("shown")
    Settings(quiet=True, verbose=True).note("hidden")
    Settings(quiet=True, verbose=True).detail("hidden")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "read 3 files\nshown\n")
