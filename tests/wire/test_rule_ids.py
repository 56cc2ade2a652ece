"""The page of the wire rules and the checks know the same rules, but for those that a body alone cannot show."""

from __future__ import annotations

import re
from pathlib import Path

from muntin import checks

PAGE = Path(__file__).parents[2] / "docs" / "wire-rules.md"

NOT_IN_A_BODY = {
    "OC9": "either place is taken by OpenAI; what other servers refuse is MI5 and DS1",
    "OC10": "neighbours of one role are taken; what templates refuse is CT2",
    "OC11": "keys of other servers; what DeepSeek wants is DS2 and DS3",
    "OR11": "a phase is lost, which no server refuses",
    "AM12": "only its maker knows its own signatures; tests.wire.test_reports and tests.providers.test_formats",
    "AM13": "only who has the request before sees the prefix change; muntin.audit",
    "AM14": "a way out of AM13",
    "OL5": "cut without a word; tests.wire.test_reports",
    **dict.fromkeys(("OR12", "GG10", "BC11"), "usage in an answer; tests.providers.test_other_formats"),
}
COUNTING = re.compile(r"(?:OC2|AM3)\d")
"""How requests are billed: tests.counting, but for AM3 itself."""


def test_the_page_and_the_checks_know_the_same_rules():
    page = set(re.findall(r"^\| \*\*([A-Z]{2}\d+)\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    page = {rule for rule in page if not COUNTING.fullmatch(rule)}
    source = "".join(path.read_text(encoding="utf-8") for path in Path(checks.__file__).parent.glob("*.py"))
    checked = set(re.findall(r'"([A-Z]{2}\d+)"', source))
    assert checked == page - set(NOT_IN_A_BODY)
