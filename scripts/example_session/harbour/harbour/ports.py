"""Ports: how deep they are, and how the tide moves there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from harbour.tides import Constituent, height

DATA = Path(__file__).parent.parent / "data"


@dataclass(frozen=True)
class Port:
    """A port. `mean` is metres above chart datum, `sill` metres below it."""

    key: str
    name: str
    zone: ZoneInfo
    mean: float
    sill: float
    constituents: tuple[Constituent, ...]

    def depth(self, moment: datetime) -> float:
        """Metres of water over the sill."""
        return self.sill + height(self.mean, self.constituents, moment)


def load(path: Path = DATA / "ports.json") -> dict[str, Port]:
    """All ports, by their key."""
    ports = {}
    for key, entry in json.loads(path.read_text()).items():
        constituents = tuple(Constituent(name, *terms) for name, terms in entry["constituents"].items())
        ports[key] = Port(key, entry["name"], ZoneInfo(entry["zone"]), entry["mean"], entry["sill"], constituents)
    return ports
