"""Where requests ask for caching, held against a cache that knows the provider's rules and the bodies alone."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, READ, RUN, says
from muntin.cacherules import cache_rules
from prefix.provider_cache import ProviderCache, blocks, unmarked

MODELS = {
    "anthropic": mt.providers.anthropic(mt.Model(name="claude-sonnet-4-5", provider="anthropic", cache_min=1)),
    "bedrock": mt.providers.bedrock(
        mt.Model(name="us.anthropic.claude-sonnet-4-5-20250929-v1:0", provider="bedrock", cache_min=1)
    ),
    "openai_chat": mt.providers.openai_chat(mt.Model(name="gpt-5.6", provider="openai", cache_min=1)),
    "openai_responses": mt.providers.openai_responses(mt.Model(name="gpt-6-sol", provider="openai", cache_min=1)),
    "qwen": mt.providers.openai_chat(mt.Model(name="qwen3-max", provider="qwen", cache_min=1), profile="qwen"),
}
TOOLS = (READ, RUN, mt.Tool("web_fetch", "Fetch a page."))

SWITCH = {"anthropic": {"tool_choice": {"type": "any"}}, "bedrock": {"toolConfig": {"toolChoice": {"any": {}}}}}
"""A parameter that breaks a prefix, or from the system text on."""

GROWS = st.one_of(
    st.tuples(st.just("guide"), st.integers(0, 40)),
    st.tuples(st.just("calls"), st.integers(1, 45)),
    st.tuples(st.just("images"), st.just(1)),
    st.tuples(st.just("state"), st.integers(0, 3)),
    st.tuples(st.just("todo"), st.integers(0, 3)),
    st.tuples(st.just("repair"), st.just(0)),
    st.tuples(st.just("run"), st.integers(0, 3)),
    st.tuples(st.just("failed"), st.just(0)),
    st.tuples(st.just("says"), st.integers(0, 2)),
)
CHANGES = st.one_of(
    st.tuples(st.just("notes"), st.integers(0, 2)),
    st.tuples(st.just("guides"), st.integers(0, 2)),
    st.tuples(st.just("tools"), st.integers(1, 3)),
    st.tuples(st.just("choice"), st.integers(0, 1)),
    st.tuples(st.just("back"), st.integers(1, 9)),
    st.tuples(st.just("waits"), st.sampled_from([10, 4_000])),
    st.tuples(st.just("compact"), st.just(0)),
)


class Agent:
    """A session at work, whose answered requests go through the provider's cache."""

    def __init__(self, provider: str, *, spare: bool = False, state: bool = True) -> None:
        self.adapter = MODELS[provider]
        self.rules = cache_rules(self.adapter.provider, self.adapter.model.name)
        self.cache = ProviderCache(self.rules)
        self.session = mt.Session(
            "s", adapter=self.adapter, system="Be exact.", state={"n": 0} if state else None,
            policy=mt.Policy(window=200_000, keep_recent=100, spare_mark=spare),
        )  # fmt: skip
        self.now, self.calls, self.said, self.tools, self.guides, self.choice = 0.0, 0, 0, 2, 0, 0
        self.session.start_run("go")

    @property
    def run(self):
        return self.session.run

    def prepare(self):
        caps = mt.Capabilities(stable=TOOLS[: self.tools], guides={"web": f"WEB {self.guides}"} if self.guides else {})
        params = SWITCH.get(self.adapter.provider, {"service_tier": "flex"})
        return self.run.prepare(caps, params=params if self.choice else None, now=self.now)

    def send(self, turn=None):
        """One request and its answer: the forecast, and what the cache says."""
        request = self.prepare()
        body = request.to_dict()
        answer = self.cache.send(body, self.now, self.rules.lifetime(self.adapter.model.cache_ttl))
        turn = self.run.record(request, turn or says("I see."))
        for call in turn.tool_calls:
            self.run.tool_result(call.id, f"result of {call.id} " + "word " * 60)
        self.now += 1
        return request, answer

    def does(self, what: str, size: int):
        """Something happens; what it sends, if anything."""
        match what:
            case "guide":
                self.said += 1  # nothing is said twice: what came back by chance would be in the cache
                self.run.guide(f"go on {self.said} {'word ' * size}")
            case "calls":
                self.calls += size
                return self.send(says("", *[f"c{self.calls}-{n}" for n in range(size)]))
            case "images":
                self.run.guide("look", images=[mt.Image("image/png", data="iVBORw0KGgo=")] * size)
            case "state":
                self.session.update_state({"n": size})
            case "todo":
                self.run.todo([("in_progress", f"step {size}")])
            case "repair":
                self.run.repair("empty_response")
            case "run":
                self.run.finish()
                self.session.start_run([f"task {n}" for n in range(size + 1)])
            case "failed":
                self.run.fail(self.prepare(), "overloaded")
            case "says":
                self.run.accept(says("more " * size + "so"))
            case "notes":
                self.run.finish()
                self.session.start_run("next", collaboration=f"NOTES {size}" if size else "")
            case "guides":
                self.guides = size
            case "tools":
                self.tools = size
            case "choice":
                self.choice = size
            case "back":
                self.session.rewind(max(1, self.session.last_entry - size))
                if self.run is None:
                    self.session.start_run("again")
                self.said += 1
                self.run.guide(f"Another way, {self.said}.")
            case "waits":
                self.now += size
            case "compact":
                with contextlib.suppress(mt.CannotCompact, mt.CompactionHalted):
                    plan = self.session.plan_compaction(force=True, least_cost=True)
                    self.session.commit_compaction(plan.run(mt.ExtractiveSummarizer()))
        return None


def empty(body):
    """Marked blocks that may not be: of no text, or of reasoning."""
    marked = [json.loads(block.text.rpartition("\n")[2]) for block in blocks(body) if block.marked]
    return [one for one in marked if one.get("type") == "thinking" or one.get("text", "x").strip() == ""]


@pytest.mark.parametrize("provider", sorted(MODELS))
@given(steps=st.lists(GROWS, max_size=25), spare=st.booleans(), state=st.booleans())
def test_case_p1_p2_p3_each_request_of_a_growing_history_reads_all_that_the_one_before_left(
    provider, steps, spare, state
):
    agent = Agent(provider, spare=spare, state=state)
    _, before = agent.send()
    for what, size in [*steps, ("calls", 1)]:
        if (sent := agent.does(what, size)) is None:
            sent = agent.send()
        request, answer = sent
        assert answer.read == before.written
        assert empty(request.to_dict()) == []
        assert request.forecast.cause == ""
        before = answer


@pytest.mark.parametrize("provider", sorted(MODELS))
@given(steps=st.lists(GROWS | CHANGES, max_size=25))
@example(steps=[("calls", 45)] * 5 + [("compact", 0), ("calls", 2)])
@example(steps=[("guide", 0), ("guide", 0), ("guides", 1), ("back", 4)])  # the older places have another front
def test_a_forecast_is_what_the_provider_s_rules_make_of_the_bodies(provider, steps):
    agent = Agent(provider)
    agent.send()
    for what, size in [*steps, ("calls", 1)]:
        if (sent := agent.does(what, size)) is None:
            sent = agent.send()
        request, answer = sent
        body = json.dumps(answer.read, separators=(",", ":"), ensure_ascii=False).encode()
        read = agent.adapter.estimate(agent.adapter.recount(body))
        # The cache may still hold what a request before the last one left; the forecast knows of the last alone.
        assert request.forecast.read <= read + 12
        assert request.forecast.cause or request.forecast.note or request.forecast.read >= read - 12


@pytest.mark.parametrize("provider", sorted(MODELS))
def test_a_summary_on_the_same_prefix_reads_all_that_the_last_request_left(provider):
    """Parameters that would break the prefix go with it, those that would force the answer's form do not."""
    agent = Agent(provider)
    for size in (45, 45, 45, 45, 30, 2, 9):
        _, before = agent.does("calls", size)
    request = agent.session.plan_compaction(same_prefix=True, force=True, least_cost=True).next_request()
    answer = agent.cache.send(json.loads(request.body), agent.now)
    assert answer.read == before.written


def planned_on_the_same_prefix(session, params):
    run = session.start_run("go")
    for n in range(6):
        run.record(run.prepare(CAPS, params=params), says("I look. " * 300, f"c{n}"))
        run.tool_result(f"c{n}", "word " * 2_000)
    run.record(run.prepare(CAPS, params=params), says("Done."))
    plan = session.plan_compaction(same_prefix=True, force=True, least_cost=True)
    return json.loads(plan.next_request().body)


def test_case_p28_a_summary_request_has_the_conversation_s_cache_key_and_its_prefix():
    policy = mt.Policy(window=200_000, keep_recent=100, cache_key=True)
    session = mt.Session("s", adapter=ADAPTERS["openai_chat"], policy=policy, system="Be exact.")
    form = {"response_format": {"type": "json_object"}, "service_tier": "flex", "tool_choice": "required"}
    body = planned_on_the_same_prefix(session, form)
    last = session.run.prepare(CAPS).to_dict()
    assert body["prompt_cache_key"] == last["prompt_cache_key"]
    assert body["tools"] == last["tools"]
    assert body["messages"][:-1] == last["messages"][:-1]
    assert body["service_tier"] == "flex"
    assert not {"response_format", "tool_choice"} & body.keys()  # a summary is a free text


def test_a_summary_request_has_room_for_the_reasoning_that_the_prefix_is_bound_to():
    policy = mt.Policy(window=200_000, keep_recent=100)
    session = mt.Session("s", adapter=ADAPTERS["anthropic"], policy=policy, system="Be exact.")
    thinking = {"type": "enabled", "budget_tokens": 4_000}
    body = planned_on_the_same_prefix(session, {"thinking": thinking, "tool_choice": {"type": "any"}})
    assert body["thinking"] == thinking
    assert body["max_tokens"] > 4_000
    assert "tool_choice" not in body


# --- what the API takes -----------------------------------------------------------------------------------------------
def sent(adapter, params=None):
    session = mt.Session("s", adapter=adapter, system="Be exact. " * 900, state={"n": 0})
    run = session.start_run("go")
    run.record(run.prepare(CAPS, params=params), says("I look.", "c1"))
    run.tool_result("c1", "fine")
    return run.prepare(CAPS, params=params).to_dict()


@pytest.mark.parametrize("provider", ["openai_chat", "openai_responses"])
def test_case_p7_p30_newer_models_of_openai_get_explicit_marks_behind_the_stable_prompt_too(provider):
    body = sent(MODELS[provider])
    marked = [block.message for block in blocks(body) if block.marked]
    assert marked == [0, 1, 2, len(body.get("messages") or body["input"]) - 1]
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    given = sent(MODELS[provider], {"prompt_cache_options": {"mode": "implicit"}})
    assert given["prompt_cache_options"] == {"mode": "implicit"}


def test_older_models_of_openai_get_no_marks_and_texts_stay_texts():
    body = sent(ADAPTERS["openai_responses"])
    assert "prompt_cache_options" not in body
    assert not any(block.marked for block in blocks(body))
    assert body["input"][1] == {"role": "user", "content": "go"}


@pytest.mark.parametrize(
    ("model", "ttl", "asked"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 300, None),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3_600, "1h"),
        ("anthropic.claude-3-7-sonnet-20250219-v1:0", 3_600, None),
        ("amazon.nova-pro-v1:0", 3_600, None),
    ],
)
def test_case_p9_bedrock_is_asked_only_for_the_lifetimes_that_the_model_has(model, ttl, asked):
    body = sent(mt.providers.bedrock(mt.Model(name=model, provider="bedrock", cache_ttl=ttl)))
    points = [block["cachePoint"] for block in body["system"] if "cachePoint" in block]
    points += [
        block["cachePoint"] for message in body["messages"] for block in message["content"] if "cachePoint" in block
    ]
    assert [point.get("ttl") for point in points] == [asked] * 4  # all the same, so that none shorter stands before it
    assert "cachePoint" not in json.dumps(body["toolConfig"])


@pytest.mark.parametrize("provider", sorted(MODELS))
def test_a_body_with_marks_counts_as_it_was_added_up_and_is_accepted(provider):
    adapter = MODELS[provider]
    body = json.dumps(sent(adapter), separators=(",", ":")).encode()
    assert adapter.check(body) == []
    plain = json.dumps(unmarked(json.loads(body)), separators=(",", ":")).encode()
    assert adapter.recount(body) == adapter.recount(plain)
