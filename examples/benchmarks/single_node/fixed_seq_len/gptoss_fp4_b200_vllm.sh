#!/usr/bin/env bash
# GPT-OSS on B200 with vLLM, fixed lengths; settings that do not depend on the job are in a file.

source "$(dirname "$0")/../../benchmark_lib.sh"

check_env_vars MODEL TP CONC ISL OSL MAX_MODEL_LEN RANDOM_RANGE_RATIO RESULT_FILENAME

[[ "$MODEL" == /* ]] || hf download "$MODEL"

cat > config.yaml <<YAML
async-scheduling: true
no-enable-prefix-caching: true
max-cudagraph-capture-size: 2048
max-num-batched-tokens: 8192
max-model-len: $MAX_MODEL_LEN
moe-backend: flashinfer_trtllm
YAML

export TORCH_CUDA_ARCH_LIST="10.0"

SERVER_LOG="server.log"
start_gpu_monitor

vllm serve "$MODEL" --host 0.0.0.0 --port "$PORT" --config config.yaml \
    --gpu-memory-utilization 0.9 --tensor-parallel-size "$TP" --max-num-seqs "${MAX_NUM_SEQS:-512}" \
    > "$SERVER_LOG" 2>&1 &
SERVER_PID=$!

wait_for_server_ready --port "$PORT" --server-log "$SERVER_LOG" --server-pid "$SERVER_PID"
run_benchmark_serving vllm

if [ "$RUN_EVAL" = "true" ]; then
    run_eval
fi
stop_gpu_monitor
