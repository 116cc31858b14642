#!/usr/bin/env bash
# Show botlint at work on the miniature repository beside this folder: its plans, what the last change made different, and
# what is wrong with it.
# usage: run.sh [BOTLINT]
set -euo pipefail

botlint="${1:-botlint}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
examples="$(dirname "$here")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

show() {
    local status=0 shown="$*"
    shown="${shown//$work/DEMO}"
    printf '\n$ botlint %s\n\n' "${shown//$examples/examples}"
    "$botlint" "$@" || status=$?
    printf '\n(exit code %d)\n' "$status"
    (( status <= 1 )) || exit "$status"
}

git_in_work() {
    git -C "$work" -c user.name=demo -c user.email=demo@example.invalid -c commit.gpgsign=false "$@"
}

echo "== 1. What every job of examples/ starts"
show plan --repo "$examples"

# The base revision has the healthy copy of one recipe; the next one tunes it, says so in the changelog, and breaks five jobs
# that it does not mention.
cp -R "$examples/." "$work"
rm -rf "$work/demo"
cp -R "$here/healthy/." "$work"
git_in_work init -q
git_in_work checkout -q -b main
git_in_work add -A
git_in_work commit -q -m "Measure MiniMax-M3 on MI355X"
cp -R "$examples/benchmarks" "$examples/perf-changelog.yaml" "$work"
git_in_work add -A
git_in_work commit -q -m "Tune MiniMax-M3 on MI355X"

echo
echo "== 2. The change, as a reviewer sees it"
git_in_work --no-pager diff --stat HEAD~1 HEAD

echo
echo "== 3. What the change makes different in what is launched"
show diff HEAD~1 HEAD --repo "$work"

echo
echo "== 4. What is wrong with it"
show check "$work" --base HEAD~1

echo
echo "== 5. What the rule of the second finding knows"
show explain shuffled-kv-heads

echo
echo "== 6. Why the two jobs exit: where the value comes from, and which test it meets"
show plan minimaxm3-fp4-mi355x-vllm-agentic-mtp --where kv-offloading=dram conc=32 --explain KV_OFFLOAD_BACKEND --repo "$examples"
