#!/usr/bin/env bash
# MI355X: Slurm allocates the GPUs, the recipe runs in an enroot container.

if [[ "${IS_MULTINODE:-false}" == true ]]; then
    echo "Error: this cluster takes single-node jobs only" >&2
    exit 1
fi

HF_HUB_CACHE_MOUNT="/var/lib/hf-hub-cache/"
# Runners share hosts: the last digit of the runner's name keeps their ports apart.
export PORT=$((8888 + ${RUNNER_NAME: -1}))
export GPU_COUNT="${GPU_COUNT:-${TP:?TP must be set}}"

SPEC_SUFFIX=$([[ "$SPEC_DECODING" == mtp ]] && printf _mtp || true)
SCRIPT_BASE="benchmarks/single_node/${SCENARIO_SUBDIR:-fixed_seq_len/}${EXP_NAME%%_*}_${PRECISION}_mi355x"
BENCHMARK_SCRIPT="${SCRIPT_BASE}_${FRAMEWORK}${SPEC_SUFFIX}.sh"
if [[ ! -f "$BENCHMARK_SCRIPT" ]]; then
    BENCHMARK_SCRIPT="${SCRIPT_BASE}${SPEC_SUFFIX}.sh"
fi

# Weights of the larger models are on the shared disk only.
case "$MODEL" in
    amd/MiniMax-M3* | amd/GLM-5*) HF_HUB_CACHE_MOUNT="/it-share/hf-hub-cache/" ;;
esac

SQUASH_FILE="/var/lib/squash/$(echo "$IMAGE" | sed 's/[\/:@#]/_/g').sqsh"

set -x
salloc --partition=compute --gres=gpu:"$GPU_COUNT" --exclusive --time=500 --no-shell --job-name="$RUNNER_NAME"
JOB_ID=$(squeue --name="$RUNNER_NAME" -h -o %A | head -n1)

srun --jobid="$JOB_ID" bash -c "
    exec 9>'$SQUASH_FILE.lock'
    flock -w 600 9 || exit 1
    unsquashfs -l '$SQUASH_FILE' > /dev/null 2>&1 || enroot import -o '$SQUASH_FILE' 'docker://$IMAGE'
"

srun --jobid="$JOB_ID" \
    --container-image="$SQUASH_FILE" \
    --container-mounts="$GITHUB_WORKSPACE:/workspace/,$HF_HUB_CACHE_MOUNT:$HF_HUB_CACHE" \
    --container-writable \
    --container-workdir=/workspace/ \
    --no-container-entrypoint --export=ALL \
    bash "$BENCHMARK_SCRIPT"
status=$?

scancel "$JOB_ID"
exit "$status"
