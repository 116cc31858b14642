"""The rules: what they look at, how they are read and evaluated, and what settings and comments make of findings."""
