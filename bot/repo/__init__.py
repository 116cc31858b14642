"""A revision as files: the working tree or any git revision, without checking it out."""
