"""The session that is bundled as an example: an agent at work on `harbour`, an invented program."""
