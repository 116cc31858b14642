"""Words that every layer shares: spans, problems, errors, unknown values. Imports nothing from the rest."""
