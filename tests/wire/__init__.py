"""Acceptance checks of request bodies: their shape, and the rules between their messages."""
