#!/usr/bin/env bash
# DeepSeek-R1 on MI355X with ATOM, fixed lengths.

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars MODEL TP EP_SIZE DP_ATTENTION CONC ISL OSL RANDOM_RANGE_RATIO RESULT_FILENAME

export OMP_NUM_THREADS=1

PARALLEL=(-tp "$TP")
case "$DP_ATTENTION/$EP_SIZE" in
    false/1) ;;
    false/*) PARALLEL+=(--enable-expert-parallel) ;;
    true/1)
        echo "Error: data-parallel attention needs EP_SIZE > 1" >&2
        exit 1
        ;;
    true/*) PARALLEL+=(--enable-expert-parallel --enable-dp-attention) ;;
esac

LENGTH=()
if [[ "$ISL" != 1024 || "$OSL" != 1024 ]]; then
    LENGTH=(--max-model-len 10240)
fi

SERVER_LOG="server.log"
start_gpu_monitor

python3 -m atom.entrypoints.openai_server \
    --model "$MODEL" \
    --server-port "$PORT" \
    "${PARALLEL[@]}" \
    --kv_cache_dtype fp8 \
    "${LENGTH[@]}" \
    --block-size "${BLOCK_SIZE:-16}" > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"
run_benchmark_serving vllm

if [ "$RUN_EVAL" = "true" ]; then
    run_eval
fi
stop_gpu_monitor
