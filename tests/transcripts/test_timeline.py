"""Which words begin a run, which steer one, and what going back leaves behind."""

from muntin.items import AssistantTurn, Attachment, Image, Text, ToolCall, ToolResult, UserInput
from muntin.transcripts.events import Fork, Interruption, Prompt, Response, Result, Steering
from muntin.transcripts.timeline import Timeline, main_model
from muntin.usage import Usage

ANSWER = AssistantTurn((Text("done"),))
CALLING = AssistantTurn((ToolCall("c1", "ls"),), "tool_calls")


def said(text):
    return UserInput((Text(text),))


def kinds(events):
    return [type(event) for event in events]


def test_all_that_is_said_before_the_first_response_is_one_prompt():
    timeline = Timeline()
    timeline.say(said("fix it"))
    timeline.say(Attachment("notes.txt", text="n"), person=False)
    timeline.respond(ANSWER)
    assert timeline.close() == (Prompt((said("fix it"), Attachment("notes.txt", text="n"))), Response(ANSWER))


def test_words_in_an_open_run_steer_it_and_after_it_begin_another():
    timeline = Timeline()
    timeline.say(said("one"))
    timeline.respond(CALLING)
    timeline.say(said("not there"))
    timeline.result(ToolResult("c1", ()))
    timeline.say(Attachment("a.py", "edited", "x = 1"))
    timeline.respond(ANSWER)
    timeline.say(said("two"))
    events = timeline.close()
    assert kinds(events) == [Prompt, Response, Steering, Result, Steering, Response, Prompt]
    assert events[4].guidance.text == "a.py\nedited\nx = 1"


def test_steering_is_text_and_images():
    image = Image("image/png", data="AA==")
    timeline = Timeline()
    timeline.respond(CALLING)
    timeline.say(UserInput((Text("see"), image)))
    timeline.say(UserInput((image,)))
    said = [(event.guidance.text, event.guidance.images) for event in timeline.close()[1:]]
    assert said == [("see", (image,)), ("", (image,))]


def test_after_an_interruption_words_are_a_prompt_though_calls_are_open():
    timeline = Timeline()
    timeline.respond(CALLING)
    timeline.interrupt("stop")
    timeline.interrupt("stop again")
    timeline.say(said("rather this"))
    assert kinds(timeline.close()) == [Response, Interruption, Prompt]


def test_what_only_the_application_said_last_is_no_prompt():
    timeline = Timeline()
    timeline.say(said("/exit"), person=False)
    assert timeline.close() == ()


def test_going_back_forks_at_the_place_and_restores_the_run():
    timeline = Timeline()
    timeline.say(said("one"))
    timeline.respond(CALLING)
    place = timeline.mark()
    assert not timeline.moved_on(place)
    timeline.result(ToolResult("c1", ()))
    assert not timeline.moved_on(place)
    timeline.respond(ANSWER)
    assert timeline.moved_on(place)
    timeline.rewind(place)
    timeline.say(said("steer"))
    events = timeline.close()
    assert events[4] == Fork(2)
    assert isinstance(events[5], Steering)


def test_a_prompt_that_was_replaced_before_its_answer_is_left_behind_by_a_fork():
    timeline = Timeline()
    place = timeline.mark()
    timeline.say(said("typo"))
    timeline.rewind(place)
    timeline.say(said("the question"))
    assert timeline.close() == (Prompt((said("typo"),)), Fork(0), Prompt((said("the question"),)))


def test_wrappers_left_behind_need_no_fork():
    timeline = Timeline()
    timeline.say(said("caveat"), person=False)
    place = timeline.mark()
    timeline.say(said("/exit"), person=False)
    assert timeline.moved_on(place)
    timeline.rewind(place)
    timeline.say(said("go on"))
    assert timeline.close() == (Prompt((said("caveat"), said("go on"))),)


def test_a_late_bill_goes_to_the_response_that_has_none():
    timeline = Timeline()
    timeline.respond(ANSWER)
    timeline.result(ToolResult("c1", ()))
    timeline.bill(Usage(input=5))
    timeline.bill(Usage(input=9))
    assert timeline.close()[0].usage == Usage(input=5)


def test_the_main_model_is_the_one_that_answered_most():
    responses = [Response(ANSWER, model=name) for name in ("a", "b", "b", "")]
    assert main_model(responses) == "b"
    assert main_model([]) == ""
