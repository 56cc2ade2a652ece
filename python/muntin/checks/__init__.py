"""What a provider would refuse in a request body: the rules of each wire format, one module a format."""

from muntin.checks.finding import Finding

__all__ = ["Finding"]
