"""Departure boards for a ferry line whose ports have sills."""
