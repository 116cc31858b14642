#!/usr/bin/env bash
# GLM-5.2 on MI355X with SGLang, agentic coding; HiCache keeps evicted KV blocks in DRAM.
set -eo pipefail

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars MODEL TP EP_SIZE CONC KV_OFFLOADING RESULT_DIR DURATION

hf download "$MODEL"
mkdir -p "$RESULT_DIR"

export SGLANG_USE_AITER=1
export SGLANG_AITER_FP8_PREFILL_ATTN=0

CACHE_ARGS=()
case "${KV_OFFLOAD_BACKEND:-}" in
    "")
        require_kv_offload_none
        ;;
    hicache)
        require_kv_offload_dram hicache
        # The budget is for the node; SGLang counts it for each rank.
        HICACHE_GB=$((TOTAL_CPU_DRAM_GB / TP))
        CACHE_ARGS=(
            --enable-hierarchical-cache
            --hicache-size "$HICACHE_GB"
            --hicache-io-backend direct
            --hicache-mem-layout page_first_direct
            --hicache-write-policy write_through
        )
        ;;
    *)
        echo "Error: KV_OFFLOAD_BACKEND=$KV_OFFLOAD_BACKEND is not supported here (empty or hicache)" >&2
        exit 1
        ;;
esac

SERVER_LOG="$RESULT_DIR/server.log"
SERVER_CMD=(
    python3 -m sglang.launch_server
    --model-path "$MODEL"
    --host 0.0.0.0
    --port "$PORT"
    --tp-size "$TP"
    --ep-size "$EP_SIZE"
    --attention-backend aiter
    --kv-cache-dtype fp8_e4m3
    --mem-fraction-static 0.85
    --chunked-prefill-size 32768
    --max-running-requests "$((2 * CONC))"
    --tool-call-parser glm47
    --reasoning-parser glm45
    "${CACHE_ARGS[@]}"
)
write_command "$RESULT_DIR/server_command.txt" "${SERVER_CMD[@]}"
"${SERVER_CMD[@]}" > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!
trap 'stop_background_process "$SERVER_PID" "SGLang server"' EXIT

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"

if [ "$EVAL_ONLY" = "true" ]; then
    run_eval
else
    run_agentic_replay "$RESULT_DIR"
fi
