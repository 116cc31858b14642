#!/usr/bin/env bash
# What every recipe shares. Source it first: source "$(dirname "$0")/../../benchmark_lib.sh"

export PYTHONDONTWRITEBYTECODE=1
export PORT="${PORT:-8888}"

GPU_MONITOR_PID=""

# check_env_vars NAME...: name all required variables that are unset or empty, and exit.
check_env_vars() {
    local name
    local -a missing=()
    for name in "$@"; do
        [[ -n "${!name:-}" ]] || missing+=("$name")
    done
    if (( ${#missing[@]} > 0 )); then
        echo "Error: these environment variables are required: ${missing[*]}" >&2
        exit 1
    fi
}

# write_command FILE WORD...: keep the exact command beside the results.
write_command() {
    local file="$1"
    shift
    printf '%q ' "$@" > "$file"
    printf '\n' >> "$file"
}

start_gpu_monitor() {
    local out="${1:-gpu_metrics.csv}"
    if command -v nvidia-smi > /dev/null 2>&1; then
        nvidia-smi --query-gpu=timestamp,index,power.draw --format=csv -l 1 > "$out" 2> /dev/null &
        GPU_MONITOR_PID=$!
    elif command -v amd-smi > /dev/null 2>&1; then
        amd-smi metric --power --csv --watch 1 > "$out" 2> /dev/null &
        GPU_MONITOR_PID=$!
    fi
}

stop_gpu_monitor() {
    if [[ -n "$GPU_MONITOR_PID" ]]; then
        kill "$GPU_MONITOR_PID" 2> /dev/null || true
        GPU_MONITOR_PID=""
    fi
}

# stop_background_process PID NAME: ask first, insist after ten seconds.
stop_background_process() {
    local pid="$1" name="$2" waited=0
    [[ -n "$pid" ]] || return 0
    kill "$pid" 2> /dev/null || return 0
    while kill -0 "$pid" 2> /dev/null; do
        if (( waited >= 10 )); then
            echo "$name ($pid) does not stop; killing it" >&2
            kill -9 "$pid" 2> /dev/null || true
            break
        fi
        sleep 1
        waited=$((waited + 1))
    done
}

# wait_for_server_ready --port P --server-log FILE --server-pid PID [--timeout S]
wait_for_server_ready() {
    local port="" log="" pid="" timeout=3600 waited=0
    while [[ $# -gt 0 ]]; do
        case "$1" in
            --port) port="$2"; shift 2 ;;
            --server-log) log="$2"; shift 2 ;;
            --server-pid) pid="$2"; shift 2 ;;
            --timeout) timeout="$2"; shift 2 ;;
            *) echo "wait_for_server_ready: unknown option $1" >&2; return 1 ;;
        esac
    done
    until curl --silent --fail "http://127.0.0.1:$port/health" > /dev/null; do
        if ! kill -0 "$pid" 2> /dev/null; then
            echo "Error: the server died; see $log" >&2
            exit 1
        fi
        if (( waited >= timeout )); then
            echo "Error: the server is not ready after $timeout seconds" >&2
            exit 1
        fi
        sleep 5
        waited=$((waited + 5))
    done
}

# run_benchmark_serving BACKEND [OPTION...]: fixed lengths, ten prompts for each concurrent request.
run_benchmark_serving() {
    local backend="$1"
    shift
    python3 -m bench_serving \
        --backend "$backend" \
        --model "$MODEL" \
        --base-url "http://127.0.0.1:$PORT" \
        --dataset-name random \
        --random-input-len "$ISL" \
        --random-output-len "$OSL" \
        --random-range-ratio "$RANDOM_RANGE_RATIO" \
        --num-prompts "$((CONC * 10))" \
        --max-concurrency "$CONC" \
        --save-result \
        --result-filename "$RESULT_FILENAME.json" \
        "$@"
}

run_eval() {
    lm_eval --model local-completions --tasks gsm8k \
        --model_args "model=$MODEL,base_url=http://127.0.0.1:$PORT/v1/completions,num_concurrent=$CONC" \
        --output_path results_eval.json
}

# run_agentic_replay DIR: replay recorded coding sessions for DURATION seconds.
run_agentic_replay() {
    local directory="$1"
    check_env_vars DURATION CONC RESULT_FILENAME
    aiperf profile \
        --model "$MODEL" \
        --url "http://127.0.0.1:$PORT" \
        --concurrency "$CONC" \
        --benchmark-duration "$DURATION" \
        --artifact-dir "$directory/aiperf_artifacts"
    cp "$directory/aiperf_artifacts/summary.json" "$RESULT_FILENAME.json"
}

# --- KV cache offloading of agentic jobs ---------------------------------------------------------------------------

# require_kv_offload_none: the job must not ask for offloading.
require_kv_offload_none() {
    if [[ "${KV_OFFLOADING:-}" != none ]]; then
        echo "Error: this path needs KV_OFFLOADING=none, not '${KV_OFFLOADING:-}'" >&2
        exit 1
    fi
}

# require_kv_offload_dram BACKEND: the job must offload to DRAM through BACKEND and have a budget for it.
require_kv_offload_dram() {
    local backend="$1"
    if [[ "${KV_OFFLOADING:-}" != dram || "${KV_OFFLOAD_BACKEND:-}" != "$backend" ]]; then
        echo "Error: this path needs KV_OFFLOADING=dram and KV_OFFLOAD_BACKEND=$backend" >&2
        exit 1
    fi
    if [[ ! "${TOTAL_CPU_DRAM_GB:-}" =~ ^[1-9][0-9]*$ ]]; then
        echo "Error: TOTAL_CPU_DRAM_GB must be a positive number of GB, not '${TOTAL_CPU_DRAM_GB:-}'" >&2
        exit 1
    fi
}

# Agentic replays use the model's own context length, whatever the workflow passes.
if [[ "${IS_AGENTIC:-0}" == 1 ]]; then
    unset MAX_MODEL_LEN
fi
