"""Versioned facts as data: one file per framework, models, hardware and images, each with its JSON Schema."""
