"""Differential tests: the same small script in real bash and in the abstract interpreter must mean the same."""
