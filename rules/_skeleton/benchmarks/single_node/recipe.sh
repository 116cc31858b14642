#!/usr/bin/env bash
set -euo pipefail
vllm serve "$MODEL" --port "$PORT" --tensor-parallel-size "$TP" --no-enable-prefix-caching
