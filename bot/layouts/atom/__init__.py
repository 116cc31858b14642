"""Repositories that keep launch commands in JSON catalogs which workflows expand and start in containers."""
