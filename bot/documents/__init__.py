"""Readers of YAML, bash and GitHub Actions files, with spans."""
