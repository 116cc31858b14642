"""The workflow that starts smoke jobs on a node, as `botlint init --smoke` writes it."""

from __future__ import annotations

from typing import Final

from botlint import __version__

PATH: Final = ".github/workflows/botlint-smoke.yml"

CHECKOUT: Final = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2"
UPLOAD: Final = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2"

_TEMPLATE: Final = """\
# Starts jobs of a pull request for minutes on a node with GPUs, each in its own image, and hands back a verdict.
#
# The App dispatches it on the default branch, for somebody who may write and for one commit. It is given data, which
# are looked at before they are used and which no script is made of. Nothing of the pull request is checked out: its
# files are read as objects of git, and what they would start is started by commands of botlint's.
#
# Before its first run: a runner of its own with the labels below, in a group that takes jobs of this workflow only,
# best an ephemeral one; and the environment `botlint-smoke` with required reviewers, without secrets.
name: botlint smoke
run-name: 'botlint smoke #${{ inputs.pr }} ${{ inputs.head_sha }} ${{ inputs.nonce }}'

on:
  workflow_dispatch:
    inputs:
      pr:
        description: The number of the pull request.
        required: true
        type: string
      head_sha:
        description: Its newest commit, 40 digits.
        required: true
        type: string
      base_sha:
        description: The commit that it is compared with, 40 digits.
        required: true
        type: string
      jobs:
        description: Ids of jobs, as `botlint smoke select` prints them, with commas between.
        required: true
        type: string
      nonce:
        description: The mark of this run, 16 digits.
        required: true
        type: string

permissions: {}

concurrency:
  group: botlint-smoke-${{ inputs.pr }}
  cancel-in-progress: true

jobs:
  smoke:
    if: github.ref_name == github.event.repository.default_branch
    runs-on: [self-hosted, botlint-smoke]
    environment: botlint-smoke
    timeout-minutes: 60
    permissions:
      contents: read
    env:
      PR: ${{ inputs.pr }}
      HEAD_SHA: ${{ inputs.head_sha }}
      BASE_SHA: ${{ inputs.base_sha }}
      JOBS: ${{ inputs.jobs }}
      NONCE: ${{ inputs.nonce }}
      # Options of `botlint smoke jobs` for this node: --engine slurm --srun --partition=compute --model-cache /hub
      OPTIONS: ${{ vars.BOTLINT_SMOKE_OPTIONS }}
    defaults:
      run:
        shell: bash
    steps:
      - name: Look at the inputs
        run: |
          [[ $PR =~ ^[1-9][0-9]{0,9}$ && $NONCE =~ ^[0-9a-f]{16}$ ]]
          [[ $HEAD_SHA =~ ^[0-9a-f]{40}$ && $BASE_SHA =~ ^[0-9a-f]{40}$ ]]
          [[ $JOBS =~ ^[0-9a-f]{16}(,[0-9a-f]{16}){0,7}$ ]]
      - uses: @CHECKOUT@
        with:
          persist-credentials: false
      - name: Fetch both commits, as objects
        env:
          TOKEN: ${{ github.token }}
        run: |
          export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.$GITHUB_SERVER_URL/.extraheader"
          export GIT_CONFIG_VALUE_0="Authorization: Basic $(printf 'x-access-token:%s' "$TOKEN" | base64 -w0)"
          git fetch --quiet --no-tags --no-recurse-submodules --depth=1 origin "refs/pull/$PR/head"
          if [[ $(git rev-parse FETCH_HEAD) != "$HEAD_SHA" ]]; then
              echo "::error title=botlint smoke::$HEAD_SHA is no longer the newest commit of the pull request"
              exit 1
          fi
          git fetch --quiet --no-tags --no-recurse-submodules --depth=1 origin "$BASE_SHA"
      - name: Install botlint
        run: |
          python3 -m venv --clear "$RUNNER_TEMP/botlint"
          "$RUNNER_TEMP/botlint/bin/python" -m pip install --quiet --disable-pip-version-check @INSTALL@
      - name: Start the jobs
        run: |
          read -ra options <<< "$OPTIONS"
          "$RUNNER_TEMP/botlint/bin/botlint" smoke jobs --no-cache --repo "$GITHUB_WORKSPACE" \\
              --head "$HEAD_SHA" --base "$BASE_SHA" --jobs "$JOBS" --nonce "$NONCE" \\
              --work "$RUNNER_TEMP/jobs-$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT" --package '@PACKAGE@' \\
              --output "$RUNNER_TEMP/smoke.json" "${options[@]}"
      - name: Clear away what is left
        if: always()
        run: |
          read -ra options <<< "$OPTIONS"
          "$RUNNER_TEMP/botlint/bin/botlint" smoke jobs --clean --head "$HEAD_SHA" --jobs "$JOBS" --nonce "$NONCE" \\
              "${options[@]}" || true
          rm -rf "$RUNNER_TEMP/jobs-$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT" || true
      - uses: @UPLOAD@
        if: always() && !cancelled()
        with:
          name: botlint-smoke
          path: ${{ runner.temp }}/smoke.json
          if-no-files-found: error
          retention-days: 7
"""


def workflow_text(install: str | None = None, package: str | None = None) -> str:
    """The workflow's file; `install` are words for pip on the node, `package` is what it installs in containers."""
    known = f"botlint=={__version__}"
    values = {
        "CHECKOUT": CHECKOUT,
        "UPLOAD": UPLOAD,
        "INSTALL": install or f"'{known}'",
        "PACKAGE": package or f"botlint[smoke]=={__version__}",
    }
    text = _TEMPLATE
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text
