#!/usr/bin/env bash
# DeepSeek-R1 on B200 with TensorRT-LLM, fixed lengths.
set -euo pipefail

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars MODEL TP EP_SIZE DP_ATTENTION CONC ISL OSL MAX_MODEL_LEN RANDOM_RANGE_RATIO RESULT_FILENAME

[[ "$MODEL" == /* ]] || hf download "$MODEL"

KV_FRACTION=0.8
if [[ "$ISL" == 8192 && "$TP" -lt 8 ]]; then
    KV_FRACTION=0.75
fi

# A multiple of 64 that holds one full prefill and one token of every other request, and no less than 8192.
MAX_NUM_TOKENS=$(( (CONC + ISL + 127) / 64 * 64 ))
MAX_NUM_TOKENS=$(( MAX_NUM_TOKENS > 8192 ? MAX_NUM_TOKENS : 8192 ))

OPTIONS_FILE="llm-api-options.yml"
cat > "$OPTIONS_FILE" <<YAML
cuda_graph_config:
  enable_padding: true
  max_batch_size: $CONC
enable_attention_dp: $DP_ATTENTION
kv_cache_config:
  dtype: fp8
  free_gpu_memory_fraction: $KV_FRACTION
YAML
if [[ "$DP_ATTENTION" == true ]]; then
    cat >> "$OPTIONS_FILE" <<'YAML'
attention_dp_config:
  enable_balance: true
YAML
fi

SERVER_LOG="server.log"
start_gpu_monitor

mpirun -n 1 --oversubscribe --allow-run-as-root \
    trtllm-serve "$MODEL" \
    --port="$PORT" \
    --backend=pytorch \
    --trust_remote_code \
    --max_seq_len="$MAX_MODEL_LEN" \
    --max_num_tokens="$MAX_NUM_TOKENS" \
    --tp_size="$TP" \
    --ep_size="$EP_SIZE" \
    --extra_llm_api_options="$OPTIONS_FILE" > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"
run_benchmark_serving openai

if [[ "${RUN_EVAL:-false}" == true ]]; then
    run_eval
fi
stop_gpu_monitor
