import muntin as mt

session = mt.Session("s-1", adapter=mt.providers.anthropic("claude-sonnet-4-5"), system="You repair programs.")
capabilities = mt.Capabilities(stable=[mt.Tool("run_tests", "Run the tests.")])

log = "FAILED tests/test_clock.py::test_midnight - assert 24 == 0\n" * 100
run = session.start_run(["Make the tests pass.", mt.Attachment("ci.log", text=log)])
request = run.prepare(capabilities)  # POST request.body to request.path; this came back:
response = {
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "run_tests", "input": {}}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 2148, "output_tokens": 37},
}
for call in run.record(request, response).tool_calls:
    run.tool_result(call.id, "1 failed, 14 passed")

request = run.prepare(capabilities)
print(request.usage.by_band())
print(request.forecast)
