"""JSON Schemas of the files that botlint reads and writes."""
