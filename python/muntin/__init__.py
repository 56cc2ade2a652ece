"""muntin manages the context window of LLM agents."""
