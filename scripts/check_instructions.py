"""Compares the instructions that counting takes with those that are written down, by callgrind.

    python scripts/check_instructions.py [--write]

Seconds say little on a machine that is shared; instructions are the same every time. Each case counts 100 KB of text;
what it takes is the difference between one round and three, so that beginning and learning are not in it. Fails where a
case takes a twentieth more than `benches/instructions.json` says, and says so where it takes a twentieth less. Valgrind
knows no AVX-512, so the kernel for AVX2 is measured.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIMITS = ROOT / "benches" / "instructions.json"
CASES = ("plain", "wide", "endless", "encode", "stream", "endless stream", "measure")
TOLERANCE = 0.05


def build() -> str:
    """The path of the benchmark's program."""
    command = ["cargo", "bench", "--locked", "--no-run", "--bench", "instructions", "--message-format", "json"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    lines = (json.loads(line) for line in done.stdout.splitlines())
    return next(line["executable"] for line in lines if line.get("target", {}).get("name") == "instructions")


def instructions(program: str, case: str, rounds: int) -> int:
    """Instructions of a whole run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, case, str(rounds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise SystemExit(f"callgrind said nothing of {case}: {done.stderr}")
    return int(found[1])


def main() -> int:
    """0 where every case is within its limit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="write down what is measured")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        return 0
    program = build()
    measured = {case: (instructions(program, case, 3) - instructions(program, case, 1)) // 2 for case in CASES}
    if arguments.write:
        LIMITS.write_text(json.dumps(measured, indent=2) + "\n")
    limits = json.loads(LIMITS.read_text())
    worse = False
    for case, count in measured.items():
        change = count / limits[case] - 1
        worse = worse or change > TOLERANCE
        note = "" if abs(change) <= TOLERANCE else "  more than allowed" if change > 0 else "  less: write it down"
        print(f"{case:15} {count / 100_000:8.1f} instructions a byte {change:+7.1%}{note}")
    return int(worse)


if __name__ == "__main__":
    sys.exit(main())
