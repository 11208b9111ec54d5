#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The embedding example answers, refuses a missing model with a reason, and is what README.md shows.
set -euo pipefail
program=$1 library=$2 source=$3

python3 - "$source" <<'E2'
import pathlib, sys
root = pathlib.Path(sys.argv[1])
code = (root / "host_app/examples/minimal.cpp").read_text().split("\n", 1)[1].strip()
if code not in (root / "README.md").read_text():
    sys.exit("README.md does not show host_app/examples/minimal.cpp as it is")
if len(code.split("\n")) > 40:
    sys.exit("the example is longer than 40 lines")
E2

if "$program" "$library" "$source/no-such-model" hello 2>reason.txt; then
  echo "a missing model was not refused"
  exit 1
fi
grep -q no-such-model reason.txt

if [ -z "${IFR_SMOLLM2:-}" ]; then
  echo "SKIPPED: IFR_SMOLLM2 does not name the SmolLM2 GGUF file (scripts/setup.sh fetches it)"
  exit 77
fi
answer=$("$program" "$library" "$IFR_SMOLLM2" "What is the capital of France?")
echo "$answer"
grep -q Paris <<<"$answer"
