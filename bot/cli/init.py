"""`botlint init`: writes a settings file that explains itself."""

from __future__ import annotations

from pathlib import Path

import click

from botlint.cli.common import Settings, common_options
from botlint.core.errors import CannotFinish, UsageError

TEMPLATE = """\
# Settings of botlint. Everything here is optional but `version`; what is not a comment is the default.
version: 1

# `botlint check` ends with status 1 if a finding is at least this bad: error, warning or info.
fail-level: error

# How bad the findings of a rule are, by its name or id, or of a whole family: off, error, warning or info.
# `botlint rules list` names all rules and families; what is said of a rule counts before what is said of its family.
# rules:
#   shell: off
#   flag-unknown-to-releases: error

# Files in which findings are left out. `*` stays inside a name, `**` takes any folders.
# paths:
#   exclude:
#     - experimental/**

# Findings that were accepted once (`botlint baseline write`).
baseline: .botlint/baseline.json

# Whether each `# botlint: ignore[rule] -- reason` must say why.
require-suppression-reason: false

# Languages of the reviews: en, zh. With both, each text is written in both.
languages: [en]

# How the repository maps configs to jobs and scripts (default: what its files say), and options of that mapping.
# layout: inferencex
# layout-options: {}

# Rules of this repository, in the form of the built-in ones. They read facts and can run nothing.
custom-rules: .botlint/rules

# How pull requests are reviewed.
review:
  # Comments on lines and files of one review; the other findings are in the summary.
  max-inline-comments: 30
  # Whether threads of mended findings are resolved. GitHub allows that only to a token that may write contents.
  resolve-threads: false
  # What is said on drafts: the summary only, or nothing (off). The check runs in both cases.
  drafts: summary
  # Whether the check fails where botlint itself could not finish, instead of being neutral.
  fail-closed: false
  # What is said once on each pull request, in place of a reminder workflow: a text, or a file of the base with one.
  # first-contact: .github/first-contact.md
  # The words by which reviewers sign a pull request off, and who may: codeowners (of all that changes), or everyone
  # who may write.
  # sign-off: { phrase: "As a PR reviewer and CODEOWNER", by: codeowners }
  # The heading of the description below which all boxes have to be ticked; "*" for any.
  # checklist: Checklist
  # Whether each commit needs a line `Signed-off-by: NAME <ADDRESS>`.
  require-dco: false

# Jobs of pull requests that are started for minutes on a node of GPUs, by the App and a workflow (docs/smoke-jobs.md).
# smoke:
#   workflow: botlint-smoke.yml
#   # Who may write asks for a run by `/botlint smoke`, or by this label.
#   label: botlint-smoke
#   # Whether each push of somebody who may write starts a run; never on forks.
#   automatic: false
#   # The runners whose jobs the node can start, as globs.
#   runners: ["*mi355x*"]
#   # The images that may run there, as globs: who writes a pull request chooses among them.
#   images: ["*"]
#   # Jobs of one run, and GPUs of one job.
#   max-jobs: 2
#   max-gpus: 8
#   # Minutes until a runner has to take the run, and that it may take from then on.
#   queue-timeout: 60
#   timeout: 60
"""


PLAIN_OPTIONS = """\
# layout-options:
#   # The scripts, as globs (default: those whose text starts a server).
#   scripts: ["serve/*.sh"]
#   # Values of variables, each with each; each script is a job for each of them.
#   matrix: { MODEL: [org/model], TP: [4, 8] }
#   # Or rows of a file: where in it they are, and which field each variable is.
#   # matrix-file: ci/models.yaml
#   # rows: models
#   # environment: { MODEL: name, TP: gpus }
"""
"""What the layout of a repository of scripts may be told."""


@click.command()
@click.argument("path", required=False, default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--smoke", is_flag=True, help="Write the workflow of smoke jobs too (docs/smoke-jobs.md).")
@common_options
def init(settings: Settings, path: Path, force: bool, smoke: bool) -> int:
    """Write `.botlint.yaml` with every setting, explained, to PATH (default: the current folder).

    It names the layout that the files of PATH have, if it is one that botlint knows (docs/layouts.md).

    With --output FILE it is written there, or with `--output -` to the terminal; with --smoke that is said of the
    workflow alone.
    """
    from botlint.engine.settings import SETTINGS_PATH
    from botlint.layouts.choose import recognised
    from botlint.repo.open import open_files

    with open_files(path, None) as files:
        template = with_layout(TEMPLATE, recognised(files))
    if smoke:
        from botlint.smoke.workflow import PATH, workflow_text

        if settings.output is not None:
            return _put(settings, Path(settings.output), workflow_text(), force)
        _put(settings, path / PATH, workflow_text(), force)
        if (path / SETTINGS_PATH).exists() and not force:
            settings.note(f"{path / SETTINGS_PATH} stays as it is: it asks for smoke jobs with `smoke: {{}}`")
            return 0
        return _put(settings, path / SETTINGS_PATH, with_smoke(template), force)
    return _put(settings, path / SETTINGS_PATH if settings.output is None else Path(settings.output), template, force)


def with_layout(template: str, name: str) -> str:
    """The settings with a layout, and what its options may say."""
    if not name:
        return template
    text = template.replace("# layout: inferencex\n", f"layout: {name}\n")
    return text.replace("# layout-options: {}\n", PLAIN_OPTIONS) if name == "plain" else text


def with_smoke(template: str) -> str:
    """The settings with those about smoke jobs turned on."""
    before, begin, after = template.partition("# smoke:\n")
    lines = [line.replace("# ", "", 1) if line.startswith("#   ") else line for line in after.splitlines()]
    return before + begin.replace("# ", "") + "".join(f"{line}\n" for line in lines)


def _put(settings: Settings, target: Path, text: str, force: bool) -> int:
    """Write a file that is not there yet. Raises UsageError where something is."""
    if str(target) == "-":
        click.echo(text, nl=False)
        return 0
    for part in (target, *target.parents):
        if part.is_symlink() and (part == target or part.name in (".github", "workflows")):
            raise UsageError(f"{part} is a symbolic link; it is not followed")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("w" if force else "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        raise UsageError(f"{target} exists; --force replaces it") from None
    except OSError as error:
        raise CannotFinish(f"cannot write {target}: {error.strerror}") from error
    settings.note(f"wrote {target}")
    return 0
