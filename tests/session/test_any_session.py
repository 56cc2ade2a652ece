"""Random sessions: whatever happens, in whatever order, every request keeps what muntin promises."""

from __future__ import annotations

from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

import muntin as mt
from agents import ADAPTERS, FETCH, READ, RUN, texts, unmarked
from wire.rules import refused

TEXTS = st.one_of(
    st.sampled_from(
        ["", " ", "go on", "héllo", "日本語 " * 20, "word " * 120, '{"a": [1, 2]}', "<|endoftext|>", "\x00"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
ARGUMENTS = st.sampled_from(["{}", '{"path":"a.py"}', '{"path": "cut o', "", "[1]", '{"b":1,"a":{"c":"é"}}'])


class AnySession(RuleBasedStateMachine):
    """Drives one session; `requests` are those that still wait for an answer."""

    requests = Bundle("requests")

    @initialize(provider=st.sampled_from(sorted(ADAPTERS)), state=st.booleans())
    def begin(self, provider, state):
        policy = mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500)
        self.session = mt.Session(
            "s", adapter=ADAPTERS[provider], policy=policy, system="SYSTEM", state={"n": 0} if state else None
        )
        self.provider = provider
        self.web = True
        self.calls = 0
        self.forks = 0
        self.stable = None
        self.tasks = []

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
        skills = [mt.SkillText("k", "SKILL")] if skill else []
        self.session.start_run(given, catalogue=catalogue, skills=skills, state={"r": 1} if state else None)

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
        self.run.tool_result(call.id, text, is_error=is_error)

    @precondition(lambda self: self.run is not None)
    @rule(text=TEXTS)
    def guide(self, text):
        self.run.guide(text)

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
    def finish(self):
        self.run.finish()

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
            self.tasks = []
        self.session, self.stable = other, None

    @rule()
    def store_and_load(self):
        again = mt.Session.from_events(self.session.events_since(0))
        assert list(again.history()) == list(self.session.history())
        self.session, self.stable = again, None

    # --- what is promised -------------------------------------------------------------------------------------------
    def observed(self, request):
        tail = b"".join(request._adapter.tail_pieces(request._frame)) + b"]}"
        self.stable = unmarked(request).removesuffix(tail)

    def check(self, request):
        body = texts(request)
        assert not refused(self.provider, request.to_dict())
        adapter = self.session.adapter
        assert request.usage.tokens == adapter.estimate(adapter.recount(request.body))
        assert request.usage.safe <= 8_000
        if self.stable and not request.forecast.cause:
            assert unmarked(request).startswith(self.stable)
        assert body.count("<todo>") <= 1
        assert ("WEB-GUIDE" in body) == self.web
        assert ('"name":"web_fetch"' in body) == self.web
        for task in self.tasks:
            assert task.split()[0] in body
        segments = [share.segment for share in request.usage.shares]
        assert segments == sorted(set(segments))

    @invariant()
    def every_call_of_the_open_run_is_waiting_or_answered(self):
        if hasattr(self, "session") and self.run is None:
            assert self.session.open_calls == ()


AnySession.TestCase.settings = settings(stateful_step_count=40)
TestAnySession = AnySession.TestCase
