"""Random sessions: whatever happens, in whatever order, every request keeps what muntin promises.

After each request: the fourteen segments stand in their order and hold what belongs there, nothing of 2, 3, 9 and 10 is
from later than the run's start, pairs are whole, the prefix is that of the request before up to the first named cause,
a withdrawn guide is nowhere, and tokens equal a recount.
"""

from __future__ import annotations

import itertools

from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

import muntin as mt
from agents import ADAPTERS, FETCH, READ, RUN, answers, texts, unmarked
from muntin.artifacts import artifact_id
from muntin.layout import Segment
from wire.rules import refused

TEXTS = st.one_of(
    st.sampled_from(
        ["", " ", "go on", "héllo", "日本語 " * 20, "word " * 120, '{"a": [1, 2]}', "<|endoftext|>", "\x00"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
ARGUMENTS = st.sampled_from(["{}", '{"path":"a.py"}', '{"path": "cut o', "", "[1]", '{"b":1,"a":{"c":"é"}}'])

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PIXEL = mt.Image("image/png", data=PNG, width=1, height=1)


class AnySession(RuleBasedStateMachine):
    """Drives one session; `requests` are those that still wait for an answer."""

    requests = Bundle("requests")

    @initialize(
        provider=st.sampled_from(sorted(ADAPTERS)),
        state=st.booleans(),
        tail=st.sampled_from(["volatile", "sticky", "in_result"]),
    )
    def begin(self, provider, state, tail):
        policy = mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500, tail=tail)
        self.tail = tail
        self.repairs = {}
        self.transaction = None
        self.session = mt.Session(
            "s", adapter=ADAPTERS[provider], policy=policy, system="SYSTEM", state={"n": 0} if state else None
        )
        self.provider = provider
        self.web = True
        self.calls = 0
        self.forks = 0
        self.stable = self.before = None
        self.skill = self.given = self.notes = None
        self.tasks = []
        self.later = []
        self.catalogue = None

    @property
    def run(self):
        return self.session.run

    def capabilities(self):
        return mt.Capabilities(
            stable=[RUN, READ], dynamic=[FETCH], guides={"web": "WEB-GUIDE"}, switches={"web": self.web},
            reasons={"web": "because"},
        )  # fmt: skip

    # --- what may happen ------------------------------------------------------------------------------------------
    @precondition(lambda self: self.run is None)
    @rule(inputs=st.lists(TEXTS, min_size=1, max_size=3), skill=st.booleans(), state=st.booleans(), catalogue=TEXTS)
    def start(self, inputs, skill, state, catalogue):
        self.tasks = [f"TASK-{self.session.version}-{i} {text}" for i, text in enumerate(inputs)]
        given = [*self.tasks, mt.StateDiff("session", {"n": self.session.version})]
        self.skill = f"SKILL-{self.session.version}-START" if skill else ""
        self.given = f"RUN-{self.session.version}-START" if state else ""
        self.notes = f"NOTES-{self.session.version}"
        skills = [mt.SkillText("k", self.skill)] if skill else []
        self.catalogue = f"CATALOGUE-{self.session.version}"
        self.later = []
        catalogue = f"{self.catalogue} {catalogue}"
        self.session.start_run(
            given,
            catalogue=catalogue,
            collaboration=self.notes,
            skills=skills,
            state={"r": self.given} if state else None,
        )

    @precondition(lambda self: self.run is not None)
    @rule(target=requests)
    def prepare(self):
        try:
            request = self.run.prepare(self.capabilities(), now=None)
        except mt.ContextOverflow as overflow:
            assert overflow.tokens > overflow.limit == 8_000
            self.compact()
            assume(False)
        self.check(request)
        return (self.session, request)

    @precondition(lambda self: self.run is not None)
    @rule(
        known=requests,
        text=TEXTS,
        arguments=st.lists(ARGUMENTS, max_size=4),
        thinks=st.booleans(),
        mine=st.booleans(),
        repeat=st.booleans(),
    )
    def answer(self, known, text, arguments, thinks, mine, repeat):
        session, request = known
        assume(session is self.session)
        maker = self.provider if mine else "anthropic"
        sealed = "sealed" if maker == "openai_responses" else ""
        parts = [mt.Reasoning("THOUGHT", "rs_1", maker, sealed)] if thinks else []
        parts += [mt.Text(text)] if text else []
        for part in arguments:
            self.calls += not repeat
            parts.append(mt.ToolCall(f"c{self.calls}", "read_file", part))
        try:
            turn = self.run.record(request, mt.AssistantTurn(tuple(parts), "tool_calls" if arguments else "stop"))
        except mt.UnknownRequest:
            return
        ids = [call.id for call in turn.tool_calls]
        assert len(ids) == len(set(ids))
        self.observed(request)
        if self.repairs is not None:
            self.repairs = {kind: since for kind, since in self.repairs.items() if since >= request.number}

    @precondition(lambda self: self.run is not None)
    @rule(known=requests, text=TEXTS, keep=st.sampled_from(["commit", "nothing", "text"]))
    def stream(self, known, text, keep):
        session, request = known
        assume(session is self.session and request.adapter.provider == "openai_chat")
        stream = self.run.stream(request)
        stream.feed({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]})
        try:
            turn = stream.commit() if keep == "commit" else stream.abort(keep=keep)
        except mt.UnknownRequest:
            return
        if turn is not None:
            assert turn.text == text
            self.observed(request)
            if self.repairs is not None:
                self.repairs = {kind: since for kind, since in self.repairs.items() if since >= request.number}

    @precondition(lambda self: self.run is not None)
    @rule(known=requests)
    def fail(self, known):
        session, request = known
        assume(session is self.session)
        try:
            self.run.fail(request, "503")
        except mt.UnknownRequest:
            return

    @precondition(lambda self: self.run is not None and self.session.open_calls)
    @rule(data=st.data(), text=TEXTS, is_error=st.booleans())
    def result(self, data, text, is_error):
        call = data.draw(st.sampled_from(self.session.open_calls))
        if is_error and len(text) > 100:
            text = text * 30
        self.run.tool_result(call.id, text, is_error=is_error)
        for name, whole in self.session.new_artifacts.items():
            assert name == artifact_id(whole)

    @precondition(lambda self: self.run is not None and self.session.open_calls)
    @rule(data=st.data())
    def pend(self, data):
        self.run.tool_pending(data.draw(st.sampled_from(self.session.open_calls)).id, "PENDING")

    @precondition(lambda self: self.run is not None and self.session._conversation.awaited)
    @rule(data=st.data(), text=TEXTS)
    def come_late(self, data, text):
        self.run.tool_late(data.draw(st.sampled_from(sorted(self.session._conversation.awaited))), text)

    @precondition(lambda self: self.run is not None)
    @rule(text=TEXTS, way=st.sampled_from(["ignore", "recover", "wait"]))
    def come_in(self, text, way):
        getattr(self.run, way)(text)
        if way == "wait":
            self.run.resume()

    @precondition(lambda self: self.run is not None)
    @rule(text=TEXTS)
    def guide(self, text):
        self.run.guide(text)

    @precondition(lambda self: self.run is not None)
    @rule(times=st.integers(1, 3))
    def show(self, times):
        self.run.guide("look", images=[PIXEL] * times)

    @precondition(lambda self: self.run is not None)
    @rule(value=st.integers(0, 3))
    def change_run_state(self, value):
        self.run.update_state({"r": f"later {value}"})

    @rule(reserve=st.sampled_from([900, 1_000, 1_100]))
    def use_another_policy(self, reserve):
        policy = mt.Policy(window=8_000 + reserve, reserve_output=reserve, keep_recent=500, tail=self.tail)
        self.session.use(policy=policy)

    @rule(value=st.integers(0, 3))
    def change_state(self, value):
        self.session.update_state({"n": value}, reason="why")

    @rule()
    def switch(self):
        self.web = not self.web

    @precondition(lambda self: self.run is not None)
    @rule(steps=st.lists(TEXTS, max_size=3))
    def todo(self, steps):
        self.run.todo([("pending", step) for step in steps])

    @precondition(lambda self: self.run is not None)
    @rule()
    def activate(self):
        self.later.append(f"SKILL-{self.session.version}-LATER")
        self.run.activate_skill(mt.SkillText("later", self.later[-1]))

    @precondition(lambda self: self.run is not None)
    @rule(kind=st.sampled_from(["empty_response", "own"]))
    def repair(self, kind):
        self.run.repair(kind, "REPAIR-TEXT")
        if self.repairs is not None:
            self.repairs[kind] = self.session._conversation.requests

    @precondition(lambda self: self.run is not None)
    @rule(move=st.sampled_from(["append", "commit", "abort"]))
    def transact(self, move):
        now = self.transaction or mt.FileTransaction.begin("t", "a.py")
        if move not in now.allowed:
            return
        after = (
            now.abort()
            if move == "abort"
            else getattr(now, move)(revision=now.revision, **({"index": now.index} if move == "append" else {}))
        )
        self.run.transaction(after)
        self.transaction = after if after.allowed else None

    @precondition(lambda self: self.run is not None and self.session.open_calls)
    @rule(data=st.data(), move=st.sampled_from(["ask", "approve", "deny"]))
    def decide(self, data, move):
        call = data.draw(st.sampled_from(self.session.open_calls))
        {"ask": self.run.request_approval, "approve": self.run.approve, "deny": self.run.deny}[move](call.id)
        capabilities = self.capabilities()
        if move == "approve":
            self.run.authorize(call, capabilities)
        else:
            try:
                self.run.authorize(call, capabilities)
            except mt.ToolUnavailable:
                return
            raise AssertionError(call)

    @precondition(lambda self: self.run is not None)
    @rule()
    def finish(self):
        self.run.finish()

    @rule()
    def undo(self):
        before = list(self.session.history())
        try:
            self.session.undo_compaction()
        except mt.NothingToUndo:
            return
        assert list(self.session.history()) == before

    @rule()
    def clear(self):
        outcome = self.session.clear_results(keep=0, force=True)
        if isinstance(outcome, mt.Committed):
            assert outcome.report.after < outcome.report.before

    @rule()
    def compact(self):
        before = list(self.session.history())
        try:
            plan = self.session.plan_compaction()
        except mt.CannotCompact:
            return
        outcome = self.session.commit_compaction(plan.run(mt.ExtractiveSummarizer()))
        assert list(self.session.history())[: len(before)] == before
        if isinstance(outcome, mt.Committed):
            assert outcome.report.after < outcome.report.before

    @rule(back=st.integers(0, 12), now=st.booleans())
    def fork(self, back, now):
        self.forks += 1
        at = None if now else max(-1, self.session.last_entry - back)
        other = self.session.fork(f"f{self.forks}", at=at)
        if not now:
            self.forget()
            self.before = None
        self.session, self.stable = other, None

    @rule(back=st.integers(0, 12))
    def rewind(self, back):
        before = list(self.session.history())
        self.session.rewind(max(-1, self.session.last_entry - back))
        assert list(self.session.history()) == before
        self.forget()

    @rule(provider=st.sampled_from(sorted(ADAPTERS)))
    def use(self, provider):
        self.session.use(ADAPTERS[provider])
        if provider != self.provider:
            self.before = None
        self.provider = provider

    @rule()
    def store_and_load(self):
        again = mt.Session.from_events(self.session.events_since(0))
        assert list(again.history()) == list(self.session.history())
        self.session, self.stable = again, None

    def forget(self):
        """The session went back to a moment of which nothing was noted here."""
        self.tasks, self.later, self.catalogue, self.repairs, self.transaction = [], [], None, None, None
        self.skill = self.given = self.notes = None

    # --- what is promised -------------------------------------------------------------------------------------------
    def observed(self, request):
        tail = b"".join(request._adapter.tail_pieces(request._frame)) + b"]}"
        self.stable = unmarked(request).removesuffix(tail)
        self.before = parts_of(request) if request.adapter is self.session.adapter else None

    def check(self, request):
        body = texts(request)
        assert not refused(self.provider, request.to_dict())
        adapter = self.session.adapter
        assert request.usage.tokens == adapter.estimate(adapter.recount(request.body))
        assert request.usage.safe <= 8_000
        if self.stable and not request.forecast.cause:
            assert unmarked(request).startswith(self.stable)
        if self.tail == "volatile":
            assert body.count("<todo>") <= 1
            if self.repairs is not None:
                assert body.count("REPAIR-TEXT") == len(self.repairs)
                assert body.count("<file_transaction>") == (self.transaction is not None)
        assert ("WEB-GUIDE" in body) == self.web
        assert ('"name":"web_fetch"' in body) == self.web
        for task in self.tasks:
            assert task.split()[0] in body
        if self.catalogue:
            assert body.count("CATALOGUE-") == body.count(self.catalogue) == 1
            assert body.count("NOTES-") == body.count(self.notes) == 1
        assert 0 <= request.usage.bytes - len(request.body) <= 1024
        assert request.usage.images == body.count(PIXEL.data)
        self.check_pairs(request)
        self.check_places(request)
        self.check_prefix(request)
        # What came on the way stands behind the task, in the order in which it came.
        marks = [task.split()[0] for task in self.tasks] + self.later
        behind = body.rpartition("</summary>")[2]
        places = [behind.index(mark) for mark in marks]
        assert places == sorted(places)
        segments = [share.segment for share in request.usage.shares]
        assert segments == sorted(set(segments))

    def check_pairs(self, request):
        """Each call has one result, and each result stands behind its call."""
        open_calls = []
        for kind, call in answers(request):
            if kind == "call":
                open_calls.append(call)
            else:
                open_calls.remove(call)
        assert not open_calls or self.provider == "ollama"  # which tells pairs by their order alone

    def check_places(self, request):
        """Each segment is where it belongs, and holds what does."""
        sent, edges = request._usage.args[0].sent, request._usage.args[0].edges
        assert list(edges) == sorted(edges)
        front = [part.segment for part in sent.front]
        assert front == sorted(front)
        end = [segment for segment, _ in request._usage.args[0].end.parts if segment is not Segment.TIMELINE]
        assert end == sorted(end)
        said = {
            Segment(number): b"".join(sent.history.wire(unit) for unit in range(start, stop)).decode()
            for number, (start, stop) in enumerate(itertools.pairwise(edges), Segment.SUMMARY)
        }
        for task in self.tasks:
            assert task.split()[0] in said[Segment.INPUTS]
        if self.skill is not None:
            assert (
                said[Segment.SKILLS].count("-START")
                == said[Segment.SKILLS].count(self.skill or "?")
                == bool(self.skill)
            )
            assert self.given in said[Segment.RUN_STATE]
            assert "later" not in said[Segment.RUN_STATE]
        for mark in self.later:
            assert mark in said[Segment.TIMELINE]

    def check_prefix(self, request):
        """The parts are those of the request before, up to what the forecast names."""
        if self.before is None:
            return
        (tools, front, units), cause = parts_of(request), request.forecast.cause
        old_tools, old_front, old_units = self.before
        if tools != old_tools:
            assert cause.startswith("tool")
        elif front != old_front:
            assert cause.split()[0] in ("system", "skill", "collaboration", "guide", "full")
        elif units[: len(old_units)] != old_units:
            assert cause
            assert cause.split()[0] not in ("tool", "system", "skill", "collaboration", "guide", "full", "model")
        else:
            assert not cause

    @invariant()
    def every_call_of_the_open_run_is_waiting_or_answered(self):
        if hasattr(self, "session") and self.run is None:
            assert self.session.open_calls == ()


def parts_of(request):
    """Tools, front and units of a request, each as it is on the wire."""
    sent = request._usage.args[0].sent
    tools = sent.tools.wire if sent.tools else b""
    return tools, [part.wire for part in sent.front], [sent.history.wire(unit) for unit in range(sent.units)]


AnySession.TestCase.settings = settings(stateful_step_count=40)
TestAnySession = AnySession.TestCase
