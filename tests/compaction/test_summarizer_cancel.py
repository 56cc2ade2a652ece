"""Cancelling a summariser between two attempts."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time

import pytest

import muntin as mt


def test_a_cancellation_ends_the_pause_before_the_next_attempt():
    sent = []

    def send(_):
        sent.append(1)
        raise ConnectionError("gone")

    summarizer = mt.LLMSummarizer(send, retries=3, pause=20.0, timeout=120.0)
    raised = []

    def call():
        try:
            summarizer(None)
        except concurrent.futures.CancelledError as reason:
            raised.append(reason)

    thread = threading.Thread(target=call)
    thread.start()
    while not sent:
        time.sleep(0.01)
    summarizer.cancel()
    thread.join(5)
    assert not thread.is_alive()
    assert len(sent) == len(raised) == 1
    with pytest.raises(concurrent.futures.CancelledError):
        asyncio.run(summarizer.ask(None))
