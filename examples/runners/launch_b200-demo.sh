#!/usr/bin/env bash
# B200: one docker container on the runner itself; jobs over several nodes go through srt-slurm.
set -eo pipefail

if [[ "${IS_MULTINODE:-false}" == true ]]; then
    if [[ -z "${CONFIG_FILE:-}" ]]; then
        echo "Error: a multi-node job names its recipe: CONFIG_FILE in additional-settings" >&2
        exit 1
    fi
    if [[ "$FRAMEWORK" != dynamo-vllm ]]; then
        echo "Error: unsupported multi-node framework: $FRAMEWORK" >&2
        exit 1
    fi

    export MODEL_PATH="/models/${MODEL##*/}"
    export SRT_SLURM_MODEL_PREFIX="gpt-oss-120b"

    rm -rf srt-slurm
    git clone --branch v1.0.44 --single-branch https://github.com/NVIDIA/srt-slurm.git srt-slurm
    cd srt-slurm
    mkdir -p recipes/vllm/gpt-oss
    cp -rT "$GITHUB_WORKSPACE/benchmarks/multi_node/srt-slurm-recipes/vllm/gpt-oss" recipes/vllm/gpt-oss

    SQUASH_FILE="/data/containers/$(echo "$IMAGE" | sed 's/[\/:@#]/_/g').sqsh"
    cat > srtslurm.yaml <<YAML
default_partition: "b200"
default_time_limit: "4:00:00"
gpus_per_node: 8
srtctl_root: "$GITHUB_WORKSPACE/srt-slurm"
model_paths:
  "$SRT_SLURM_MODEL_PREFIX": "$MODEL_PATH"
containers:
  dynamo-vllm: "$SQUASH_FILE"
  "$IMAGE": "$SQUASH_FILE"
YAML

    CONFIG_PATH="${CONFIG_FILE%%:*}"
    sed -i "s/^name:.*/name: \"${RUNNER_NAME}\"/" "$CONFIG_PATH"
    SRTCTL_OUTPUT=$(srtctl apply -f "$CONFIG_FILE" --tags "b200,$MODEL_PREFIX,$PRECISION,${ISL}x${OSL}" 2>&1)
    echo "$SRTCTL_OUTPUT"
    JOB_ID=$(echo "$SRTCTL_OUTPUT" | grep -oP 'Job \K[0-9]+' | head -n1)
    while squeue -j "$JOB_ID" --noheader | grep -q "$JOB_ID"; do
        sleep 30
    done
    cp "outputs/$JOB_ID/logs/"*/results_concurrency_*.json "$GITHUB_WORKSPACE/"
    exit 0
fi

PORT=8888
export GPU_COUNT="${GPU_COUNT:-${TP:?TP must be set}}"

FRAMEWORK_SUFFIX=""
if [[ "$FRAMEWORK" == trt ]]; then
    FRAMEWORK_SUFFIX="_trt"
fi
SPEC_SUFFIX=""
if [[ "$SPEC_DECODING" == mtp ]]; then
    SPEC_SUFFIX="_mtp"
fi
SCRIPT_BASE="benchmarks/single_node/${SCENARIO_SUBDIR}${EXP_NAME%%_*}_${PRECISION}_b200"
SCRIPT="${SCRIPT_BASE}_${FRAMEWORK}${SPEC_SUFFIX}.sh"
if [[ ! -f "$SCRIPT" ]]; then
    SCRIPT="${SCRIPT_BASE}${FRAMEWORK_SUFFIX}${SPEC_SUFFIX}.sh"
fi

set -x
docker run --rm --name=bmk-server --network=host --ipc=host --gpus="\"device=$(seq -s, 0 $((GPU_COUNT - 1)))\"" \
    --shm-size=16g --ulimit memlock=-1 --ulimit stack=67108864 \
    -v "/raid/hf-hub-cache:$HF_HUB_CACHE" \
    -v "$GITHUB_WORKSPACE:/workspace" -w /workspace \
    -e HF_TOKEN -e HF_HUB_CACHE -e MODEL -e TP -e EP_SIZE -e DP_ATTENTION -e GPU_COUNT -e CONC -e ISL -e OSL -e MAX_MODEL_LEN \
    -e RANDOM_RANGE_RATIO -e RESULT_FILENAME -e RUN_EVAL -e EVAL_ONLY -e RUNNER_TYPE -e PORT="$PORT" \
    --entrypoint=/bin/bash \
    "${IMAGE/\#//}" \
    "$SCRIPT"
