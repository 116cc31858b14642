#!/usr/bin/env bash
# MiniMax-M3 on MI355X with vLLM and EAGLE3 speculation, agentic coding.
set -eo pipefail

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars MODEL TP EP_SIZE CONC KV_OFFLOADING TOTAL_CPU_DRAM_GB RESULT_DIR DURATION

DRAFT_MODEL="Inferact/MiniMax-M3-EAGLE3-GQA"
NUM_SPEC_TOKENS=3
# golden_al_distribution/minimaxm3_eagle3_gqa.yaml: minimax-m3.thinking_on[3]
ACCEPTANCE_LENGTH=2.78

hf download "$MODEL"
hf download "$DRAFT_MODEL"
mkdir -p "$RESULT_DIR"

SERVER_PID=""
cleanup() {
    local status=$?
    trap - EXIT
    stop_background_process "$SERVER_PID" "vLLM server"
    exit "$status"
}
trap cleanup EXIT

OFFLOAD_ARGS=()
case "${KV_OFFLOAD_BACKEND:-}" in
    "")
        require_kv_offload_none
        ;;
    vllm-native)
        require_kv_offload_dram vllm-native
        OFFLOAD_ARGS=(
            --kv_offloading_backend native
            --kv_offloading_size "$TOTAL_CPU_DRAM_GB"
        )
        ;;
    *)
        echo "Error: KV_OFFLOAD_BACKEND=$KV_OFFLOAD_BACKEND is not supported here (empty or vllm-native)" >&2
        exit 1
        ;;
esac

PARALLEL_ARGS=(--tensor-parallel-size "$TP")
if [ "$EP_SIZE" -gt 1 ]; then
    PARALLEL_ARGS+=(--enable-expert-parallel)
fi

# Throughput runs fix the acceptance length, so that engines compare; evals verify every token.
SPEC="\"method\": \"eagle3\", \"model\": \"$DRAFT_MODEL\", \"num_speculative_tokens\": $NUM_SPEC_TOKENS"
if [ "$EVAL_ONLY" != "true" ]; then
    SPEC+=", \"rejection_sample_method\": \"synthetic\", \"synthetic_acceptance_length\": $ACCEPTANCE_LENGTH"
fi

export VLLM_ENGINE_READY_TIMEOUT_S=3600
export VLLM_ROCM_USE_AITER=1
export VLLM_ROCM_USE_AITER_MOE=1
export VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT=1
export VLLM_ROCM_QUICK_REDUCE_QUANTIZATION=INT4
export VLLM_USE_BREAKABLE_CUDAGRAPH=0

SERVER_LOG="$RESULT_DIR/server.log"
SERVER_CMD=(
    vllm serve "$MODEL"
    --host 0.0.0.0
    --port "$PORT"
    "${PARALLEL_ARGS[@]}"
    --trust-remote-code
    --block-size 128
    --gpu-memory-utilization 0.85
    --max-num-batched-tokens 32768
    --max-num-seqs "$((2 * CONC))"
    --enable-prefix-caching
    --attention-backend TRITON_ATTN
    --kv-cache-dtype fp8
    --tool-call-parser minimax_m3
    --enable-auto-tool-choice
    --speculative-config "{$SPEC}"
    "${OFFLOAD_ARGS[@]}"
)
write_command "$RESULT_DIR/server_command.txt" "${SERVER_CMD[@]}"
"${SERVER_CMD[@]}" > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"

if [ "$EVAL_ONLY" = "true" ]; then
    run_eval
else
    run_agentic_replay "$RESULT_DIR"
fi
