"""The layout of vLLM's recipes: YAML files of models, strategies and hardware, of which a site makes commands."""
