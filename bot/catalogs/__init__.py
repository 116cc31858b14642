"""Versioned facts: what a framework version accepts, what a model is, what a node has, what an image tag means."""
