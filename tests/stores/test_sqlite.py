"""The journal in SQLite: what was committed renders the same bytes, and one of two writers is refused."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, compacted, exchange, fill, says, session


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/agent.db"


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_a_session_that_was_closed_and_opened_renders_the_same_bytes(url, provider):
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)
    s = session(provider, policy=policy, state={"branch": "main"}, tenant="acme")
    run = s.start_run(
        ["go", mt.Attachment("a.txt", text="héllo")], skills=[mt.SkillText("k", "skill")], state={"tab": 1}
    )
    run.todo([("pending", "step")], goal="goal")
    fill(run)
    s.update_state({"branch": "fix"}, reason="r")
    with mt.open_store(url) as store:
        store.commit(s)
        assert isinstance(compacted(s), mt.Committed)
        run.record(run.prepare(CAPS), says("dangling", "d1"))
        store.commit(s)
    with mt.open_store(url) as store:
        again = store.load("s", tenant="acme")
        assert again.version == again.stored_version == s.version
        assert again.run.prepare(CAPS).body == run.prepare(CAPS).body
        assert again.run.prepare(CAPS).forecast == run.prepare(CAPS).forecast
        assert list(again.history()) == list(s.history())
        assert again.repairs == s.repairs
        assert store.sessions(tenant="acme") == ["s"]
        assert store.sessions() == []


def test_only_what_is_new_is_appended(url):
    s = session()
    run = s.start_run("go")
    with mt.open_store(url) as store:
        assert store.commit(s) == s.version
        run.guide("more")
        assert store.commit(s) == s.version
        assert store.commit(s) == s.version


def test_the_second_of_two_writers_is_refused_and_nothing_of_it_is_written(url):
    s = session()
    s.start_run("go")
    with mt.open_store(url) as store:
        store.commit(s)
    with mt.open_store(url) as one, mt.open_store(url) as two:
        first, second = one.load("s"), two.load("s")
        first.run.guide("mine")
        second.run.guide("yours")
        one.commit(first)
        with pytest.raises(mt.Conflict, match="another writer was first"):
            two.commit(second)
        assert list(two.load("s").history()) == list(first.history())


def test_a_session_of_the_same_name_is_not_overwritten(url):
    with mt.open_store(url) as store:
        store.commit(session())
        with pytest.raises(mt.Conflict):
            store.commit(session())


def test_forks_are_stored_beside_what_they_came_from(url):
    s = session()
    run = s.start_run("go")
    exchange(run, says("one"))
    fork = s.fork("s-2")
    fork.run.guide("other way")
    with mt.open_store(url) as store:
        store.commit(s)
        store.commit(fork)
        assert store.sessions() == ["s", "s-2"]
        assert store.load("s-2").run.prepare(CAPS).body == fork.run.prepare(CAPS).body


def test_tenants_do_not_see_each_other(url):
    with mt.open_store(url) as store:
        store.commit(session(tenant="a"))
        with pytest.raises(mt.SessionNotFound, match="'s' of tenant 'b'"):
            store.load("s", tenant="b")
        store.commit(session(tenant="b"))


def test_a_failing_write_leaves_the_old_state(url, tmp_path):
    s = session()
    run = s.start_run("go")
    with mt.open_store(url) as store:
        committed = store.commit(s)
        run.guide("more")
        locker = sqlite3.connect(tmp_path / "agent.db", isolation_level=None)
        locker.execute("BEGIN IMMEDIATE")
        store._database.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(mt.StoreError, match="locked"):
            store.commit(s)
        locker.execute("ROLLBACK")
        locker.close()
        assert s.stored_version == committed
        store.commit(s)
        assert store.load("s").version == s.version


def test_what_is_no_journal_is_refused(tmp_path):
    (tmp_path / "agent.db").write_text("not a database " * 100)
    with pytest.raises(mt.StoreError, match="cannot use"):
        mt.open_store(f"sqlite:///{tmp_path}/agent.db")
    with pytest.raises(mt.StoreError, match="cannot open"):
        mt.open_store(f"sqlite:///{tmp_path}/no/such/folder.db")
    with pytest.raises(mt.InputError, match="no store for"):
        mt.open_store("redis://localhost")


def test_a_journal_of_a_newer_version_is_refused(url, tmp_path):
    mt.open_store(url).close()
    database = sqlite3.connect(tmp_path / "agent.db")
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(mt.StoreError, match="schema version 99"):
        mt.open_store(url)


def test_a_session_can_be_loaded_with_another_adapter_even_when_it_was_compacted(url):
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)
    s = session("anthropic", policy=policy)
    run = s.start_run("go")
    fill(run)
    assert isinstance(compacted(s), mt.Committed)
    with mt.open_store(url) as store:
        store.commit(s)
        other = store.load("s", adapter=ADAPTERS["openai_chat"])
    request = other.run.prepare(CAPS)
    assert request.to_dict()["model"] == "gpt-4o"
    assert {share.segment for share in request.usage.shares} == {1, 6, 8, 11}
    assert request.forecast.cause == "model changed"
    assert request.forecast.broken.place == "claude-sonnet-4-5 → gpt-4o"


def test_threads_may_commit_one_session_together(url):
    s = session()
    run = s.start_run("go")
    with mt.open_store(url) as store:

        def work(name):
            for i in range(20):
                run.guide(f"{name} {i}")
                store.commit(s)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        store.commit(s)
        assert list(store.load("s").history()) == list(s.history())
        assert len(list(s.history())) == 81


def test_a_process_that_is_killed_leaves_whole_commits(url):
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
import muntin as mt
from agents import session
s = session()
run = s.start_run("go")
with mt.open_store({url!r}) as store:
    while True:
        run.guide("one"); run.guide("two")
        print(store.commit(s), flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    seen = [int(process.stdout.readline()) for _ in range(30)]
    process.kill()
    process.wait()
    process.stdout.close()
    with mt.open_store(url) as store:
        again = store.load("s")
        assert again.version >= seen[-1]
        assert (again.version - seen[0]) % 2 == 0
