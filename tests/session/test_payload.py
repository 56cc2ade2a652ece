"""Limits beside tokens: bytes of the body and images (R1.1, cases G)."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, exchange, says, session, summary, work
from muntin.limits import limits

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def tiny():
    return mt.Image("image/png", data=PIXEL, width=1, height=1)


def look(run, times, image=tiny):
    """So many exchanges of one call whose result is a screenshot."""
    for i in range(times):
        exchange(run, says("I look.", f"look-{run.session.version}-{i}"), [[mt.Text("the screen"), image()]])


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_usage_says_the_bytes_and_the_images_of_the_body(provider):
    run = session(provider, state={"a": 1}).start_run(["héllo", mt.Attachment("a", images=(tiny(),))])
    run.todo([("pending", "look")])
    look(run, 3)
    run.guide("and this?", images=[tiny(), tiny()])
    request = run.prepare(CAPS)
    assert 0 <= request.usage.bytes - len(request.body) <= 1024
    assert request.usage.images == request.body.count(PIXEL.encode()) == 6


def test_case_g5_51_tiny_images_are_refused_where_50_are_taken():
    s = session("openai_chat", policy=mt.Policy(max_images=50))
    run = s.start_run("look")
    look(run, 50)
    assert run.prepare(CAPS).usage.state == "compact"
    look(run, 1)
    with pytest.raises(mt.PayloadOverflow, match=r"51 images, 1 more than the 50 .*Policy\(max_images") as refusal:
        run.prepare(CAPS)
    assert (refusal.value.what, refusal.value.amount, refusal.value.most) == ("images", 51, 50)
    assert refusal.value.tokens < refusal.value.limit
    assert refusal.value.usage.state == "full"
    assert refusal.value.usage.tightest == "images"
    # The way out that it names is one.
    assert isinstance(s.clear_results(keep=0, force=True), mt.Committed)
    assert run.prepare(CAPS).usage.images == 1  # of the newest result, which the model has not seen yet


def test_case_g5_bytes_reach_their_limit_long_before_tokens_do():
    policy = mt.Policy(max_bytes=1_000_000)
    run = session("anthropic", policy=policy).start_run("look")
    look(run, 42, lambda: mt.Image("image/png", data="A" * 24_000, width=100, height=100))
    with pytest.raises(mt.PayloadOverflow, match=r"bytes.*1,000,000 that anthropic") as refusal:
        run.prepare(CAPS)
    assert refusal.value.tokens < refusal.value.limit
    assert refusal.value.what == "bytes"


def test_a_compaction_takes_the_images_of_what_it_covers_away_and_undoing_brings_them_back():
    s = session("openai_chat", policy=mt.Policy(window=60_000, keep_recent=500))
    run = s.start_run("look")
    look(run, 4)
    work(run, 20)
    before = run.prepare(CAPS)
    run.fail(before, "not sent")
    plan = s.plan_compaction(least_cost=True)
    assert isinstance(s.commit_compaction(plan.run(mt.ExtractiveSummarizer())), mt.Committed)
    after = run.prepare(CAPS)
    assert (before.usage.images, after.usage.images) == (4, 0)
    assert b"image_url" not in after.body
    s.undo_compaction()
    assert run.prepare(CAPS).usage.images == 4


def test_images_that_people_sent_are_compacted_however_few_tokens_they_have():
    s = session("openai_chat", policy=mt.Policy(max_images=5, keep_recent=100))
    for i in range(7):
        run = s.start_run([f"picture {i}", tiny()])
        try:
            request = run.prepare(CAPS)
        except mt.PayloadOverflow:
            break
        run.record(request, says("I see a pixel of some colour, and nothing else that I could tell you about."))
        run.finish()
    assert i == 5
    plan = s.plan_compaction()
    while asked := plan.next_request():
        plan.feed(asked, says(summary()))
    outcome = s.commit_compaction(plan)
    assert isinstance(outcome, mt.Committed), outcome
    assert run.prepare(CAPS).usage.images <= 2  # that of the task, which stays, and at most one more


def test_limits_are_the_providers_or_the_policys():
    def most(provider, **policy):
        usage = session(provider, policy=mt.Policy(**policy)).start_run("go").prepare(CAPS).usage
        return usage.max_bytes, usage.max_images

    assert most("anthropic") == (32_000_000, 100)
    assert most("anthropic", window=1_000_000) == (32_000_000, 600)
    assert most("ollama") == (0, 0)
    assert most("ollama", max_bytes=50_000, max_images=7) == (50_000, 7)
    assert limits("gemini").source
    with pytest.raises(mt.InputError, match="max_images 0"):
        session(policy=mt.Policy(max_images=0))


def test_another_provider_has_its_own_limits():
    s = session("anthropic")
    run = s.start_run("look")
    look(run, 2)
    s.use(ADAPTERS["gemini"])
    assert run.prepare(CAPS).usage.max_images == 3_600
