"""The layout of SemiAnalysisAI/InferenceX and its forks."""
