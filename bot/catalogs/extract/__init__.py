"""Read what one version of a framework accepts from its own source, without its heavy dependencies.

Each module here runs in a process of its own (`python -m botlint.catalogs.extract`): it imports code of the
framework, so it must never run inside botlint, and it never runs on a repository under review.
"""
