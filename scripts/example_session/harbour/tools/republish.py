"""Render the boards of many days and leave them where the waiting rooms fetch them.

python tools/republish.py --from 2026-03-29 --days 14 [--rehearse]
"""

import argparse
import hashlib
import json
import sys
import time
from datetime import date, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from harbour import ports, timetable
from harbour.board import as_json, board

PAUSE = 4.0
"""Seconds between two boards; the screens lose what comes faster."""

parser = argparse.ArgumentParser()
parser.add_argument("--from", dest="first", type=date.fromisoformat, required=True)
parser.add_argument("--days", type=int, default=1)
parser.add_argument("--rehearse", action="store_true")
options = parser.parse_args()

known, table, out = ports.load(), timetable.load(), Path("out")
for number in range(options.days):
    day = options.first + timedelta(days=number)
    for port in known.values():
        rows = board(port, day, table, known)
        text = json.dumps(as_json(port, day, rows), ensure_ascii=False)
        low = sum(row.status == "low water" for row in rows)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        print(f"{day} {port.key:<10} rows={len(rows):<3} low_water={low:<2} digest={digest}", flush=True)
        if not options.rehearse:
            out.mkdir(exist_ok=True)
            (out / f"{port.key}-{day}.json").write_text(text)
            time.sleep(PAUSE)
