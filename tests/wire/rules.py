"""The rules between the messages of a request, which no SDK type knows; `wire.strict` sees to the shape.

A finding is `rule: path: why`: the rule by its id in `docs/wire-rules.md` where it has one, the path as in the
providers' own errors. The functions take time linear in the size of the body and expect a body of the right shape;
another may make them raise a `KeyError`. Rules that a provider does not enforce, or newer models only, and that our own
bodies keep all the same, apply with `ours=True` alone.
"""

from wire.anthropic_rules import anthropic_rules
from wire.openai_chat_rules import openai_chat_rules

__all__ = ["anthropic_rules", "openai_chat_rules"]
