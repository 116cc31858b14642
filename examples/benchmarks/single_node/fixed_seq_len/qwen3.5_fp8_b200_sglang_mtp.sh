#!/usr/bin/env bash
# Qwen3.5 on B200 with SGLang and its multi-token-prediction head, fixed lengths.

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars MODEL TP EP_SIZE CONC ISL OSL RANDOM_RANGE_RATIO RESULT_FILENAME

[[ "$MODEL" == /* ]] || hf download "$MODEL"

export SGLANG_ENABLE_SPEC_V2=1

NUM_STEPS=3

SERVER_LOG="server.log"
start_gpu_monitor

python3 -m sglang.launch_server \
    --model-path "$MODEL" \
    --host 0.0.0.0 \
    --port "$PORT" \
    --tp "$TP" \
    --ep-size "$EP_SIZE" \
    --trust-remote-code \
    --kv-cache-dtype fp8_e4m3 \
    --mem-fraction-static 0.8 \
    --context-length "$((ISL + OSL + 20))" \
    --max-running-requests "$CONC" \
    --disable-radix-cache \
    --speculative-algorithm NEXTN \
    --speculative-num-steps "$NUM_STEPS" \
    --speculative-eagle-topk 1 \
    --speculative-num-draft-tokens "$((NUM_STEPS + 1))" > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"
run_benchmark_serving sglang --use-chat-template

if [ "$RUN_EVAL" = "true" ]; then
    run_eval
fi
stop_gpu_monitor
