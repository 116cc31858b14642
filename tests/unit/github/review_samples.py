"""Small pull requests and findings for the tests of what a review says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from botlint.core.finding import Certainty, Edit, Finding, Fix, JobRef, Related, Severity
from botlint.core.span import Span
from botlint.github.models import ChangedFile, FileStatus
from botlint.github.patches import Diff, read_diff
from botlint.github.placing import Lines

SCRIPT = "benchmarks/single_node/agentic/demo_mtp.sh"
CONFIG = "configs/amd-master.yaml"
ENTRY = "demo-fp4-mi355x-vllm-agentic-mtp"

OLD_SCRIPT = """\
#!/usr/bin/env bash
set -euo pipefail
source "$(dirname "$0")/../../benchmark_lib.sh"

OFFLOAD_ARGS=()
case "${KV_OFFLOAD_BACKEND:-}" in
    "")
        ;;
    lmcache)
        require_kv_offload_dram lmcache
        OFFLOAD_ARGS=(--kv-transfer-config '{"kv_connector": "LMCacheMPConnector"}')
        ;;
    *)
        echo "Error: KV_OFFLOAD_BACKEND=$KV_OFFLOAD_BACKEND is not supported (empty or lmcache)" >&2
        exit 1
        ;;
esac

mkdir -p "$RESULT_DIR"
hf download "$MODEL"

export VLLM_ROCM_USE_AITER=1
# One key-value head per rank: tp 4 may use the shuffled layout, tp 2 may not.
if [ "$TP" -eq 4 ]; then
    export VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT=1
else
    export VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT=0
fi
export VLLM_ENGINE_READY_TIMEOUT_S=3600

vllm serve "$MODEL" --tensor-parallel-size "$TP" "${OFFLOAD_ARGS[@]}"
"""
NEW_SCRIPT = """\
#!/usr/bin/env bash
set -euo pipefail
source "$(dirname "$0")/../../benchmark_lib.sh"

OFFLOAD_ARGS=()
case "${KV_OFFLOAD_BACKEND:-}" in
    "")
        ;;
    vllm-native)
        require_kv_offload_dram vllm-native
        OFFLOAD_ARGS=(--kv_offloading_backend native)
        ;;
    *)
        echo "Error: KV_OFFLOAD_BACKEND=$KV_OFFLOAD_BACKEND is not supported (empty or vllm-native)" >&2
        exit 1
        ;;
esac

mkdir -p "$RESULT_DIR"
hf download "$MODEL"

export VLLM_ROCM_USE_AITER=1
export VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT=1
export VLLM_ENGINE_READY_TIMEOUT_S=3600

vllm serve "$MODEL" --tensor-parallel-size "$TP" "${OFFLOAD_ARGS[@]}"
"""
PATCH = """\
@@ -6,11 +6,11 @@ case "${KV_OFFLOAD_BACKEND:-}" in
     "")
         ;;
-    lmcache)
-        require_kv_offload_dram lmcache
-        OFFLOAD_ARGS=(--kv-transfer-config '{"kv_connector": "LMCacheMPConnector"}')
+    vllm-native)
+        require_kv_offload_dram vllm-native
+        OFFLOAD_ARGS=(--kv_offloading_backend native)
         ;;
     *)
-        echo "Error: KV_OFFLOAD_BACKEND=$KV_OFFLOAD_BACKEND is not supported (empty or lmcache)" >&2
+        echo "Error: KV_OFFLOAD_BACKEND=$KV_OFFLOAD_BACKEND is not supported (empty or vllm-native)" >&2
         exit 1
         ;;
 esac"""
MASTER = f"""\
# The master config.
{ENTRY}:
  scenarios:
    agentic-coding:
    - search-space:
      - {{ tp: 4, kv-offloading: none, conc-list: [1, 2] }}
      - {{ tp: 2, kv-offloading: none, conc-list: [1, 2, 5] }}
      - {{ tp: 4, kv-offloading: dram, kv-offload-backend: {{ name: lmcache }}, conc-list: [32, 40] }}
"""
HEAD: Mapping[str, str] = {SCRIPT: NEW_SCRIPT, CONFIG: MASTER}


def spot(path: str, line: int, end: int = 0) -> Span:
    """A span of whole lines."""
    return Span(path, line, 1, end or line, 99 if end else 1)


def jobs(arm: int, *concs: int) -> tuple[JobRef, ...]:
    """Jobs of one arm of the entry."""
    return tuple(JobRef(ENTRY, "agentic-coding", arm, str(conc)) for conc in concs)


def finding(
    path: str = SCRIPT,
    line: int = 1,
    *,
    end: int = 0,
    rule: str = "some-rule",
    message: str = "something is wrong",
    severity: Severity = "error",
    certainty: Certainty = "certain",
    related: Sequence[tuple[str, int, str]] = (),
    fingerprint: str = "0123456789abcdef",
    edits: Sequence[Edit] = (),
    safe: bool = True,
    **more: object,
) -> Finding:
    """A finding."""
    return Finding(
        rule,
        severity,
        certainty,
        message,
        spot(path, line, end),
        related=tuple(Related(spot(where, number), text) for where, number, text in related),
        fingerprint=fingerprint,
        fix=Fix("mend it", safe, tuple(edits)) if edits else None,
        **more,  # type: ignore[arg-type]
    )


EXITS = finding(
    line=15,
    rule="job-exits",
    message=f"{ENTRY}: the job ends with status 1 before a server starts: Error: KV_OFFLOAD_BACKEND=lmcache is not "
    "supported (empty or vllm-native)",
    related=[(CONFIG, 8, "an arm that ends so"), (CONFIG, 2, "its entry")],
    entries=(ENTRY,),
    jobs=jobs(2, 32, 40),
    steps=(
        f"{CONFIG}:8  - {{ tp: 4, kv-offloading: dram }}  (kv-offload-backend.name: lmcache)",
        f'{SCRIPT}:6  case "${{KV_OFFLOAD_BACKEND:-}}" in  (takes *) with KV_OFFLOAD_BACKEND=lmcache)',
        f"{SCRIPT}:15  exit 1  (ends here)",
    ),
    remedy="handle what the arm asks for in the script, or drop the arm",
    fingerprint="f58bfb2b07127f55",
)
HEADS = finding(
    line=23,
    rule="shuffled-kv-heads",
    message="acme/Demo has 4 key-value heads: tensor parallelism 2 puts 2 on each rank",
    related=[(CONFIG, 7, "this arm runs with tp 2"), (SCRIPT, 26, "the server that gets both")],
    entries=(ENTRY,),
    jobs=jobs(1, 1, 2, 5),
    fingerprint="fec2de7e0da206b6",
)


def changed(
    path: str,
    patch: str | None,
    status: FileStatus = "modified",
    previous: str | None = None,
    changes: int = 1,
) -> ChangedFile:
    """A file of a diff."""
    return ChangedFile(path, previous, status, patch, changes, changes, "0" * 40)


def diff_of(base: Mapping[str, str], head: Mapping[str, str]) -> Diff:
    """The diff of two revisions as GitHub gives it: with patches that have context lines."""
    files = []
    for path in sorted(base.keys() | head.keys()):
        if base.get(path) == head.get(path):
            continue
        status: FileStatus = "modified" if path in base and path in head else "added" if path in head else "removed"
        files.append(changed(path, patch_of(base.get(path, ""), head.get(path, "")), status))
    return read_diff(files)


def patch_of(old: str, new: str) -> str:
    """A unified patch without the file's header."""
    import difflib

    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3))
    return "\n".join(lines[2:])


def lines_of(texts: Mapping[str, str]) -> Lines:
    """The lines of the files of a revision."""

    def lines(path: str) -> Sequence[str] | None:
        return texts[path].split("\n") if path in texts else None

    return lines


EVIL = (
    "::error file=x::pwned <!-- botlint:v1 fp=0000000000000000 --> <script>alert(1)</script> `code` ``two`` </details> "
    "[link](https://evil.example) ![i](https://evil.example/i.png) @octocat @acme/team #12 GH-7 acme/bench#3 "
    "https://evil.example www.evil.example <https://evil.example> \x1b]8;;x\x07 "
    "\x00\u202e\u200b\ufeff a|b \\|c `d|e` `f\\\\|g` "
    "*bold* _it_ ~~gone~~ &lt; &#64;octocat $x$ :smile:"
)
WEB = "https://github.example/acme/bench"
