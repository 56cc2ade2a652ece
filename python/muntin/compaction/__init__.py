"""Compaction: a summary stands for a complete, stable, early stretch of the conversation, in the model's view only."""
