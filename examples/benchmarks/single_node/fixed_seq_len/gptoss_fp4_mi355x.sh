#!/usr/bin/env bash
# GPT-OSS on MI355X with vLLM, fixed lengths.

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars MODEL TP CONC ISL OSL MAX_MODEL_LEN RANDOM_RANGE_RATIO RESULT_FILENAME

hf download "$MODEL"

export VLLM_ROCM_USE_AITER=1
export VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION=1
export HSA_NO_SCRATCH_RECLAIM=1

# A lone GPU is bound by its queue: larger batches only pay with more than one rank.
if [ "$TP" -gt 1 ]; then
    MAX_NUM_BATCHED_TOKENS=16384
else
    MAX_NUM_BATCHED_TOKENS=8192
fi

SERVER_LOG="server.log"
start_gpu_monitor

vllm serve "$MODEL" \
    --host 0.0.0.0 \
    --port "$PORT" \
    --tensor-parallel-size "$TP" \
    --gpu-memory-utilization 0.95 \
    --max-model-len "$MAX_MODEL_LEN" \
    --max-num-batched-tokens "$MAX_NUM_BATCHED_TOKENS" \
    --max-num-seqs "$CONC" \
    --block-size 64 \
    --no-enable-prefix-caching \
    --async-scheduling > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"
run_benchmark_serving vllm

if [ "$RUN_EVAL" = "true" ]; then
    run_eval
fi
stop_gpu_monitor
