"""What requests cost: texts, calls, tools and media by the rules of each family of models."""

from __future__ import annotations

from muntin.counting.costs import Costs, Estimate, costs_of, outlined

__all__ = ["Costs", "Estimate", "costs_of", "outlined"]
