r"""Skills and project rules from files: Agent Skills folders and AGENTS.md.

A skill is a folder with a `SKILL.md`: front matter in YAML and, below it, the text that the model reads when the skill
is activated. Format and limits: https://agentskills.io/specification. AGENTS.md is plain Markdown: https://agents.md.

This module reads files; a session does not. What was read once stays as it was read: a file that changes later changes
nothing that a session has seen. Reading skills needs `pip install 'muntin[skills]'`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from muntin.exceptions import InvalidSkill
from muntin.items import Attachment, SkillText

__all__ = ["Skill", "catalogue", "project_rules", "read_skill", "read_skills", "with_rule"]

NAME_CHARACTERS: Final = 64
DESCRIPTION_CHARACTERS: Final = 1024
COMPATIBILITY_CHARACTERS: Final = 500
"""What the specification allows."""

_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FRONT: Final = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


class Skill(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A skill as its folder had it when it was read.

    Attributes:
        name: 1 to 64 lowercase letters, digits and single hyphens; the folder's name.
        description: What it does and when to use it, at most 1,024 characters.
        text: What the model reads when it is activated.
        license: Its licence, or empty.
        compatibility: What it needs to work, at most 500 characters, or empty.
        metadata: Whatever else its author says of it.
        allowed_tools: Tools that it expects to use.
        folder: Where it was read, for files that it refers to.
    """

    name: str
    description: str
    text: str
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, str] = {}
    allowed_tools: tuple[str, ...] = ()
    folder: str = ""

    def __post_init__(self) -> None:
        for field, value, most in (
            ("name", self.name, NAME_CHARACTERS),
            ("description", self.description, DESCRIPTION_CHARACTERS),
            ("compatibility", self.compatibility, COMPATIBILITY_CHARACTERS),
        ):
            if len(value) > most:
                raise InvalidSkill(
                    f"skill {self.name[:NAME_CHARACTERS]!r}: its {field} has {len(value)} characters, at most {most} "
                    "are allowed"
                )
        if not _NAME.fullmatch(self.name):
            raise InvalidSkill(f"skill name {self.name!r} must be lowercase letters, digits and single hyphens between")
        if not self.description.strip():
            raise InvalidSkill(f"skill {self.name!r} has no description, by which the model would choose it")

    def activated(self) -> SkillText:
        """The text to activate, as it is now."""
        return SkillText(self.name, self.text)


def read_skill(folder: str | Path) -> Skill:
    """A skill from its folder.

    Raises:
        InvalidSkill: It has no readable `SKILL.md`, or one that breaks the specification; says what, and the limit.
        ImportError: The reader of YAML is not installed; says how to get it.
    """
    folder = Path(folder)
    file = folder / "SKILL.md"
    try:
        whole = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as reason:
        raise InvalidSkill(f"cannot read {str(file)!r}: {reason}") from reason
    front = _FRONT.match(whole)
    if front is None:
        raise InvalidSkill(f"{str(file)!r} does not begin with front matter between two lines of '---'")
    fields = _fields(front.group(1), file)
    if fields["name"] != folder.resolve().name:
        raise InvalidSkill(
            f"{str(file)!r} names the skill {fields['name']!r}, but its folder is named {folder.resolve().name!r}; "
            "they must be the same"
        )
    return Skill(**fields, text=whole[front.end() :].strip(), folder=str(folder))


def read_skills(folder: str | Path) -> tuple[Skill, ...]:
    """All skills of a folder of skills, sorted by name; folders without a `SKILL.md` are passed over.

    Raises:
        InvalidSkill: There is no such folder, or one of them breaks the specification.
    """
    if not Path(folder).is_dir():
        raise InvalidSkill(f"there is no folder {str(folder)!r} to read skills from")
    found = sorted(file.parent for file in Path(folder).glob("*/SKILL.md"))
    return tuple(sorted(map(read_skill, found), key=lambda skill: skill.name))


def catalogue(skills: Iterable[Skill]) -> str:
    """The short directory of skills for `Session.start_run(catalogue=...)`: name and description of each, sorted.

    Examples:
        >>> print(catalogue([Skill(name="tides", description="Reads tide tables.", text="...")]))
        Skills that can be activated:
        - tides: Reads tide tables.
    """
    lines = [f"- {one.name}: {' '.join(one.description.split())}" for one in sorted(skills, key=lambda one: one.name)]
    return "\n".join(["Skills that can be activated:", *lines]) if lines else ""


def project_rules(root: str | Path, folder: str | Path | None = None) -> tuple[Attachment, ...]:
    """The AGENTS.md files that hold for a folder of a project, from the root inwards: the nearest one comes last.

    Args:
        root: Of the project.
        folder: Inside it; by default the root itself.

    Raises:
        InvalidSkill: The folder is not inside the root, or a file is not UTF-8.
    """
    root = Path(root).resolve()
    inner = root if folder is None else (root / folder).resolve()
    if not inner.is_relative_to(root):
        raise InvalidSkill(f"{str(inner)!r} is not inside the project {str(root)!r}")
    rules = []
    for place in reversed([inner, *(one for one in inner.parents if one.is_relative_to(root))]):
        file = place / "AGENTS.md"
        if file.is_file():
            try:
                text = file.read_text(encoding="utf-8-sig").strip()
            except (OSError, UnicodeDecodeError) as reason:
                raise InvalidSkill(f"cannot read {str(file)!r}: {reason}") from reason
            rules.append(Attachment(file.relative_to(root).as_posix(), text=text))
    return tuple(rules)


def with_rule(text: str, rule: str, *, heading: str = "## Standing rules") -> str:
    r"""The text of a rules file with a rule that was given in chat added to it, so that it outlives the chat.

    A rule that is there already is not added again.

    Examples:
        >>> with_rule("# Project\n", "Never push to main.")
        '# Project\n\n## Standing rules\n\n- Never push to main.\n'
    """
    line = f"- {' '.join(rule.split())}"
    lines = text.rstrip().splitlines()
    if line in lines:
        return text
    if heading not in lines:
        return "\n".join([*lines, *([""] if lines else []), heading, "", line, ""])
    place = lines.index(heading) + 1
    while place < len(lines) and (not lines[place].strip() or lines[place].startswith(("- ", "  "))):
        place += 1
    while not lines[place - 1].strip():
        place -= 1
    gap = [""] if lines[place - 1] == heading else []
    return "\n".join([*lines[:place], *gap, line, *lines[place:], ""])


def _fields(front: str, file: Path) -> dict[str, Any]:
    try:
        raw = msgspec.yaml.decode(front, type=_Front)
    except ImportError as reason:
        raise ImportError("reading skills needs a reader of YAML: pip install 'muntin[skills]'") from reason
    except (msgspec.DecodeError, UnicodeError) as reason:
        raise InvalidSkill(f"the front matter of {str(file)!r} is not as specified: {reason}") from reason
    tools = raw.allowed_tools
    return {
        "name": raw.name,
        "description": raw.description,
        "license": raw.license,
        "compatibility": raw.compatibility,
        "metadata": {key: str(value) for key, value in raw.metadata.items()},
        "allowed_tools": tuple(tools.split() if isinstance(tools, str) else tools),
    }


class _Front(msgspec.Struct, rename="kebab"):
    name: str
    description: str
    license: str = ""
    compatibility: str = ""
    metadata: dict[str, Any] = {}
    allowed_tools: str | list[str] = ""
