"""A GitHub for tests: real HTTP on a port of this machine, state in memory, requests held against GitHub's description.

with FakeGitHub() as hub:
    repo = hub.repository("acme/bench", {"README.md": "Hello\\n"})
    repo.commit("change", {"README.md": "Bye\\n"})
    pull = repo.open_pull("change")
    token = hub.actions_token(repo)
    ...  # let the program under test talk to hub.api with token.text
    assert hub.violations == []
"""

from __future__ import annotations

from fakehub import faults
from fakehub.faults import Fault
from fakehub.git import Executable, Link, Submodule, read_folder
from fakehub.server import Call, FakeGitHub, Limit
from fakehub.state import App, CheckRun, Installation, IssueComment, Pull, Repository, ReviewComment, Token, User

__all__ = [
    "App",
    "Call",
    "CheckRun",
    "Executable",
    "FakeGitHub",
    "Fault",
    "Installation",
    "IssueComment",
    "Limit",
    "Link",
    "Pull",
    "Repository",
    "ReviewComment",
    "Submodule",
    "Token",
    "User",
    "faults",
    "read_folder",
]
