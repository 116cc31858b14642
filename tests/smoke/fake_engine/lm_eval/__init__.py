"""Stands for lm-eval in tests."""
