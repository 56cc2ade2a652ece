import json
from datetime import date

from harbour import cli, ports, timetable
from harbour.board import as_json, board

PORTS = ports.load()
FIELDS = ["time", "to", "ship", "status", "depth"]


def test_the_field_names_of_the_json_are_a_promise():
    port, day = PORTS["torsnes"], date(2026, 1, 14)
    shown = as_json(port, day, board(port, day, timetable.load(), PORTS))
    assert list(shown) == ["port", "name", "day", "rows"]
    assert list(shown["rows"][0]) == FIELDS


def test_every_departure_is_on_the_board():
    port, day = PORTS["torsnes"], date(2026, 1, 14)
    table = timetable.load()
    assert len(board(port, day, table, PORTS)) == sum(len(route.departures) for route in table.leaving("torsnes"))


def test_the_command_prints_names_with_their_accents(capsys):
    assert cli.main(["board", "torsnes", "2026-01-14", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "Tórsnes"
