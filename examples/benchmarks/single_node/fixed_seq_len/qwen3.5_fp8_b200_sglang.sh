#!/usr/bin/env bash
# Qwen3.5 on B200 with SGLang, fixed lengths.

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars MODEL TP EP_SIZE CONC ISL OSL RANDOM_RANGE_RATIO RESULT_FILENAME

[[ "$MODEL" == /* ]] || hf download "$MODEL"

export SGLANG_ENABLE_JIT_DEEPGEMM=false

if [ "${DP_ATTENTION}" = "true" ]; then
    ATTENTION="--enable-dp-attention --dp-size $TP"
else
    ATTENTION=""
fi

SERVER_LOG="server.log"
start_gpu_monitor

# shellcheck disable=SC2086  # ATTENTION is several words or none
PYTHONNOUSERSITE=1 python3 -m sglang.launch_server \
    --model-path "$MODEL" \
    --host 0.0.0.0 \
    --port "$PORT" \
    --tensor-parallel-size "$TP" \
    --ep-size "$EP_SIZE" $ATTENTION \
    --trust-remote-code \
    --kv-cache-dtype fp8_e4m3 \
    --fp8-gemm-backend flashinfer_trtllm \
    --mem-fraction-static 0.82 \
    --context-length $((ISL + OSL + 20)) \
    --cuda-graph-max-bs-decode "$CONC" \
    --max-running-requests "$CONC" \
    --disable-radix-cache > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"
run_benchmark_serving sglang

if [ "$RUN_EVAL" = "true" ]; then
    run_eval
fi
stop_gpu_monitor
