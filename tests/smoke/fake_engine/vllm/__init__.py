"""Stands for vLLM in tests."""
