"""Variables that the fake engine knows."""

from __future__ import annotations

environment_variables = {"VLLM_LOGGING_LEVEL": None, "VLLM_NO_USAGE_STATS": None, "VLLM_DO_NOT_TRACK": None}
