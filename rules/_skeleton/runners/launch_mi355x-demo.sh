#!/usr/bin/env bash
export PORT=8888
bash benchmarks/single_node/recipe.sh
