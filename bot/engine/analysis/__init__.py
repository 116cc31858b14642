"""Algorithms behind facts that need more than a few lines."""
