"""Cut the data of the contract tests out of GitHub's own descriptions, which npm serves.

usage: refresh_spec.py [--check]

Writes spec.json (OpenAPI, the operations that botlint uses), schema.graphql (the types that it asks for) and
webhooks.json (one example of each event) into data/. With --check nothing is written, and a difference is exit code 1.
Nothing of the packages is executed: their archives are read.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    EnumTypeDefinitionNode,
    FieldDefinitionNode,
    InputObjectTypeDefinitionNode,
    InputValueDefinitionNode,
    InterfaceTypeDefinitionNode,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
    ObjectTypeDefinitionNode,
    ScalarTypeDefinitionNode,
    TypeNode,
    parse,
    print_ast,
)

DATA = Path(__file__).parent / "data"
OPENAPI = "@octokit/openapi@23.0.2"
GRAPHQL = "@octokit/graphql-schema@15.26.1"
EXAMPLES = "@octokit/webhooks-examples@7.6.1"

_REPO = "/repos/{owner}/{repo}"
_OPERATIONS = [
    "get /app",
    "get /app/hook/deliveries",
    "get /app/hook/deliveries/{delivery_id}",
    "get /app/installations",
    "get /app/installations/{installation_id}",
    "get /installation/repositories",
    "get /rate_limit",
    "get /user",
    "get /users/{username}",
    "post /app/hook/deliveries/{delivery_id}/attempts",
    "post /app/installations/{installation_id}/access_tokens",
    *(
        f"{method} {_REPO}{path}"
        for method, path in (
            ("get", ""),
            ("get", "/installation"),
            ("get", "/pulls"),
            ("get", "/pulls/{pull_number}"),
            ("get", "/pulls/{pull_number}/files"),
            ("get", "/pulls/{pull_number}/commits"),
            ("get", "/pulls/{pull_number}/reviews"),
            ("post", "/pulls/{pull_number}/reviews"),
            ("put", "/pulls/{pull_number}/reviews/{review_id}"),
            ("put", "/pulls/{pull_number}/reviews/{review_id}/dismissals"),
            ("get", "/pulls/{pull_number}/reviews/{review_id}/comments"),
            ("get", "/pulls/{pull_number}/comments"),
            ("post", "/pulls/{pull_number}/comments"),
            ("post", "/pulls/{pull_number}/comments/{comment_id}/replies"),
            ("get", "/pulls/comments/{comment_id}"),
            ("patch", "/pulls/comments/{comment_id}"),
            ("delete", "/pulls/comments/{comment_id}"),
            ("post", "/pulls/comments/{comment_id}/reactions"),
            ("get", "/issues/{issue_number}/comments"),
            ("post", "/issues/{issue_number}/comments"),
            ("patch", "/issues/comments/{comment_id}"),
            ("delete", "/issues/comments/{comment_id}"),
            ("post", "/issues/comments/{comment_id}/reactions"),
            ("get", "/issues/{issue_number}/labels"),
            ("post", "/issues/{issue_number}/labels"),
            ("delete", "/issues/{issue_number}/labels/{name}"),
            ("post", "/check-runs"),
            ("patch", "/check-runs/{check_run_id}"),
            ("get", "/check-runs/{check_run_id}"),
            ("get", "/check-runs/{check_run_id}/annotations"),
            ("get", "/commits/{ref}"),
            ("get", "/commits/{ref}/check-runs"),
            ("get", "/commits/{ref}/check-suites"),
            ("get", "/contents/{path}"),
            ("get", "/git/trees/{tree_sha}"),
            ("get", "/git/blobs/{file_sha}"),
            ("get", "/compare/{basehead}"),
            ("get", "/collaborators/{username}/permission"),
            ("get", "/actions/workflows/{workflow_id}"),
            ("post", "/actions/workflows/{workflow_id}/dispatches"),
            ("get", "/actions/workflows/{workflow_id}/runs"),
            ("get", "/actions/runs/{run_id}"),
            ("post", "/actions/runs/{run_id}/cancel"),
            ("get", "/actions/runs/{run_id}/artifacts"),
            ("get", "/actions/artifacts/{artifact_id}/{archive_format}"),
            ("get", "/actions/runs/{run_id}/jobs"),
        )
    ),
]
# Words for people, which no test reads.
_DROPPED = frozenset(
    "description summary example examples externalDocs x-github x-octokit tags title x-github-breaking-changes"
    " deprecated x-multi-segment links headers".split()
)
_NAMED = frozenset({"properties", "patternProperties", "schemas", "parameters", "responses"})

_TYPES = {
    "Query": "id node nodes rateLimit repository viewer",
    "Mutation": "minimizeComment resolveReviewThread unminimizeComment unresolveReviewThread",
    "Repository": "databaseId id isFork isPrivate name nameWithOwner object owner pullRequest",
    "PullRequest": "baseRefOid comments headRefOid id isDraft merged number reviewThreads state title",
    "PullRequestReviewThread": "*",
    "PullRequestReviewThreadConnection": "nodes pageInfo totalCount",
    "PullRequestReviewComment": "author body createdAt databaseId diffHunk fullDatabaseId id isMinimized line"
    " minimizedReason originalLine outdated path pullRequest replyTo state url viewerCanMinimize viewerDidAuthor",
    "PullRequestReviewCommentConnection": "nodes pageInfo totalCount",
    "IssueComment": "author body createdAt databaseId fullDatabaseId id isMinimized minimizedReason pullRequest url"
    " viewerCanMinimize viewerDidAuthor",
    "IssueCommentConnection": "nodes pageInfo totalCount",
    "PullRequestReview": "author body databaseId fullDatabaseId id isMinimized minimizedReason state viewerCanMinimize",
    "Actor": "login url",
    "RepositoryOwner": "login id",
    "User": "databaseId id login url",
    "Bot": "databaseId id login url",
    "GitObject": "abbreviatedOid id oid repository",
    "Blob": "abbreviatedOid byteSize id isBinary isTruncated oid repository text",
    "Tree": "abbreviatedOid entries id oid repository",
    "TreeEntry": "mode name object oid path size type",
    "Commit": "abbreviatedOid authoredDate committedDate id message oid repository tree",
    **dict.fromkeys(
        "BigInt CommentAuthorAssociation DateTime DiffSide GitObjectID MinimizeCommentInput MinimizeCommentPayload"
        " Minimizable Node PageInfo PullRequestReviewCommentState PullRequestReviewState PullRequestState"
        " PullRequestReviewThreadSubjectType RateLimit ReportedContentClassifiers ResolveReviewThreadInput"
        " ResolveReviewThreadPayload URI UnminimizeCommentInput UnminimizeCommentPayload"
        " UnresolveReviewThreadInput UnresolveReviewThreadPayload IssueCommentOrder IssueCommentOrderField"
        " OrderDirection".split(),
        "*",
    ),
}
_Fielded = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode | InputObjectTypeDefinitionNode
_Definition = _Fielded | EnumTypeDefinitionNode | ScalarTypeDefinitionNode
_BUILTIN = frozenset({"Boolean", "Float", "ID", "Int", "String"})

# Event and action; an action that has several examples is taken from the last, the newest.
_EVENTS = [
    ("check_run", "rerequested"),
    ("check_suite", "rerequested"),
    ("installation", "created"),
    ("installation_repositories", "added"),
    ("issue_comment", "created"),
    ("merge_group", "checks_requested"),
    ("ping", None),
    ("pull_request", "opened"),
    ("pull_request", "synchronize"),
    ("pull_request_review_comment", "created"),
    ("workflow_run", "completed"),
]


def main(arguments: list[str]) -> int:
    """Writes the data, or compares it; the exit code."""
    made = {
        "spec.json": _as_json(cut_spec(json.loads(fetch(OPENAPI, "generated/api.github.com.json")))),
        "schema.graphql": cut_schema(fetch(GRAPHQL, "schema.graphql").decode()),
        "webhooks.json": _as_json(cut_examples(json.loads(fetch(EXAMPLES, "api.github.com/index.json")))),
    }
    different = [name for name, text in made.items() if _text(DATA / name) != text]
    if "--check" in arguments:
        for name in different:
            print(f"{DATA / name} is not what the packages give; run `make refresh-spec`", file=sys.stderr)
        return 1 if different else 0
    for name in different:
        (DATA / name).write_text(made[name], encoding="utf-8")
        print(f"wrote {DATA / name}")
    return 0


def fetch(package: str, member: str) -> bytes:
    """One file of a package's archive."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", folder, package]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).iterdir()
        with tarfile.open(archive) as tar:
            file = tar.extractfile(f"package/{member}")
            assert file is not None
            return file.read()


def cut_spec(whole: dict[str, Any]) -> dict[str, Any]:
    """The operations of OpenAPI that are used, with every schema that they lead to and without texts for people."""
    info = {key: whole["info"][key] for key in ("title", "version", "license")}
    cut: dict[str, Any] = {"openapi": whole["openapi"], "info": info, "paths": {}}
    for name in _OPERATIONS:
        method, path = name.split()
        item = whole["paths"][path]
        keep = {
            key: _stripped(item[method][key])
            for key in ("operationId", "parameters", "requestBody", "responses")
            if key in item[method]
        }
        cut["paths"].setdefault(path, {})[method] = keep
        if "parameters" in item:
            cut["paths"][path]["parameters"] = _stripped(item["parameters"])
    todo, seen = list(_references(cut)), set[str]()
    while todo:
        reference = todo.pop()
        if reference not in seen:
            seen.add(reference)
            parts = reference[2:].split("/")
            value: Any = whole
            for part in parts:
                value = value[part]
            place = cut
            for part in parts[:-1]:
                place = place.setdefault(part, {})
            place[parts[-1]] = _stripped(value)
            todo.extend(_references(place[parts[-1]]))
    return cut


def _stripped(value: Any, named: bool = False) -> Any:
    """A part of the description without what no test reads; names of properties are kept whatever they are."""
    if isinstance(value, list):
        return [_stripped(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _stripped(one, not named and key in _NAMED and isinstance(one, dict))
        for key, one in value.items()
        if named or key not in _DROPPED
    }


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _references(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key == "$ref" and isinstance(one, str):
                yield one
            else:
                yield from _references(one)


def cut_schema(whole: str) -> str:
    """The types and fields of the GraphQL schema that are used."""
    kept = []
    for node in parse(whole, no_location=True).definitions:
        if not isinstance(node, _Definition) or node.name.value not in _TYPES:
            continue
        changes: dict[str, Any] = {"description": None}
        if isinstance(node, EnumTypeDefinitionNode):
            changes["values"] = tuple(replace(value, description=None) for value in node.values or ())
        elif not isinstance(node, ScalarTypeDefinitionNode):
            changes["fields"] = tuple(_fields(node))
        if isinstance(node, ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode):
            changes["interfaces"] = tuple(one for one in node.interfaces or () if one.name.value in _TYPES)
        kept.append(replace(node, **changes))
    missing = set(_TYPES) - {node.name.value for node in kept}
    assert not missing, missing
    kept.sort(key=lambda node: node.name.value)
    return print_ast(DocumentNode(definitions=tuple(kept))) + "\n"


def _fields(node: _Fielded) -> Iterator[FieldDefinitionNode | InputValueDefinitionNode]:
    wanted = _TYPES[node.name.value]
    for field in node.fields or ():
        if (wanted == "*" or field.name.value in wanted.split()) and _is_kept(field.type):
            if isinstance(field, FieldDefinitionNode):
                arguments = (one for one in field.arguments or () if _is_kept(one.type))
                field = replace(field, arguments=tuple(replace(one, description=None) for one in arguments))
            yield replace(field, description=None)


def _is_kept(node: TypeNode) -> bool:
    name = _type_name(node)
    return name in _TYPES or name in _BUILTIN


def _type_name(node: TypeNode) -> str:
    while isinstance(node, NonNullTypeNode | ListTypeNode):
        node = node.type
    assert isinstance(node, NamedTypeNode)
    return node.name.value


def cut_examples(whole: list[dict[str, Any]]) -> dict[str, Any]:
    """One example of each event, without the addresses, which make up most of them."""
    cut = {}
    for event, action in _EVENTS:
        (entry,) = (one for one in whole if one["name"] == event)
        cut[event if action is None else f"{event}.{action}"] = _without_addresses(
            [one for one in entry["examples"] if action is None or one.get("action") == action][-1]
        )
    return cut


def _without_addresses(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_addresses(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_addresses(one)
        for key, one in value.items()
        if key not in ("url", "_links") and not key.endswith("_url")
    }


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True) + "\n"


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
