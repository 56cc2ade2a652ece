"""Skills and project rules: what is read, what is refused, and that a text stays as it was when it was activated."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import CAPS, exchange, says, session, texts

FRONT = "---\nname: tides\ndescription: Reads tide tables.\n---\n"


@pytest.fixture
def skill(tmp_path):
    def write(text, name="tides"):
        folder = tmp_path / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(text, encoding="utf-8")
        return folder

    return write


def test_a_skill_is_read_with_all_its_fields(skill):
    text = (
        "---\nname: tides\ndescription: >\n  Reads\n  tide tables.\nlicense: MIT\ncompatibility: needs a network\n"
        "metadata:\n  author: ann\n  version: 1.0\nallowed-tools: Bash(git:*) Read\n---\n\n# How\n\n---\nread on\n"
    )
    read = mt.skills.read_skill(skill(text))
    assert (read.name, read.description.strip(), read.license) == ("tides", "Reads tide tables.", "MIT")
    assert read.metadata == {"author": "ann", "version": "1.0"}
    assert read.allowed_tools == ("Bash(git:*)", "Read")
    assert read.text == "# How\n\n---\nread on"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no front matter", "does not begin with front matter"),
        ("---\nname: tides\n", "does not begin with front matter"),
        ("---\nname: [\n---\n", "not as specified"),
        ("---\nname: tides\n---\n", "missing required field `description`"),
        ("---\nname: other\ndescription: x\n---\n", "folder is named 'tides'"),
        ("---\nname: tides\ndescription: ' '\n---\n", "no description"),
        (f"---\nname: tides\ndescription: {'x' * 1025}\n---\n", "description has 1025 characters, at most 1024"),
        (f"---\nname: tides\ndescription: x\ncompatibility: {'x' * 501}\n---\n", "at most 500"),
    ],
)
def test_what_breaks_the_specification_is_refused_with_the_limit(skill, text, message):
    with pytest.raises(mt.InvalidSkill, match=message):
        mt.skills.read_skill(skill(text))


@pytest.mark.parametrize("name", ["Tides", "-tides", "ti--des", "tides-", "x" * 65, "a_b"])
def test_names_are_lowercase_words_with_single_hyphens(name):
    with pytest.raises(mt.InvalidSkill):
        mt.Skill(name=name, description="x", text="")


def test_a_folder_of_skills_gives_a_catalogue_in_order(skill, tmp_path):
    skill(FRONT + "text")
    skill(FRONT.replace("tides", "atlas") + "text", "atlas")
    (tmp_path / "skills" / "empty").mkdir()
    listed = mt.skills.catalogue(reversed(mt.skills.read_skills(tmp_path / "skills")))
    assert listed.splitlines()[1:] == ["- atlas: Reads tide tables.", "- tides: Reads tide tables."]
    assert mt.skills.catalogue([]) == ""
    with pytest.raises(mt.InvalidSkill, match="cannot read"):
        mt.skills.read_skill(tmp_path / "nowhere")


def test_an_activated_text_stays_as_it_was_though_the_file_changes(skill):
    s = session()
    run = s.start_run("go")
    folder = skill(FRONT + "OLD-TEXT")
    run.activate_skill(mt.skills.read_skill(folder))
    exchange(run, says("", "c1"))
    skill(FRONT + "NEW-TEXT")
    mt.skills.read_skill(folder)
    run.finish()
    body = texts(s.start_run("next").prepare(CAPS))
    assert "OLD-TEXT" in body
    assert "NEW-TEXT" not in body


def test_the_rules_of_a_project_come_from_the_root_inwards(tmp_path):
    inner = tmp_path / "src" / "core"
    inner.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("ROOT-RULES")
    (inner / "AGENTS.md").write_text("CORE-RULES")
    found = mt.skills.project_rules(tmp_path, "src/core")
    assert [(one.name, one.text) for one in found] == [
        ("AGENTS.md", "ROOT-RULES"),
        ("src/core/AGENTS.md", "CORE-RULES"),
    ]
    assert [one.text for one in mt.skills.project_rules(tmp_path)] == ["ROOT-RULES"]
    with pytest.raises(mt.InvalidSkill, match="not inside"):
        mt.skills.project_rules(tmp_path / "src", "..")


def test_case_e3_a_rule_given_in_chat_becomes_a_standing_one_once():
    text = "# Project\n\nProse.\n"
    text = mt.skills.with_rule(text, "Never push to main.")
    text = mt.skills.with_rule(text, "Use  pytest -x.")
    assert mt.skills.with_rule(text, "Never push\nto main.") == text
    assert text.endswith("## Standing rules\n\n- Never push to main.\n- Use pytest -x.\n")
    inside = mt.skills.with_rule("## Standing rules\n\n- a\n\n## Other\n", "b")
    assert inside == "## Standing rules\n\n- a\n- b\n\n## Other\n"
    assert mt.skills.with_rule("", "x") == "## Standing rules\n\n- x\n"


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(mt.InvalidSkill, match="there is no folder"):
        mt.skills.read_skills(tmp_path / "nope")
