"""`python -m muntin`."""

from __future__ import annotations

from muntin.cli import main

if __name__ == "__main__":
    main()
