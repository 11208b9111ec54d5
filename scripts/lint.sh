#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy 14 over the sources of one configured preset (default release). Include edges and format are tests (label lint).
#
#   scripts/lint.sh [PRESET] [REGEX of paths]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
filter=${2:-.}
tidy=$(command -v clang-tidy-14 || command -v clang-tidy || true)
if [ -z "$tidy" ] || ! "$tidy" --version | grep -q 'version 14\.'; then
  echo "lint: clang-tidy 14 is not installed (package clang-tidy-14)" >&2
  exit 1
fi
database=build/$preset/compile_commands.json
[ -f "$database" ] || cmake --preset "$preset" >/dev/null
mkdir -p "build/$preset/tidy"
# CUDA files are left to nvcc's own warnings; gcc-only and precompiled-header flags mean nothing to clang.
python3 - "$database" "build/$preset/tidy" "$PWD" "$filter" <<'E2' >"build/$preset/tidy/files.txt"
import json, re, sys
database, out, root, wanted = sys.argv[1:]
entries = [e for e in json.load(open(database))
           if e["file"].startswith(root + "/") and not e["file"].startswith(root + "/build/")
           and re.search(r"\.(c|cpp)$", e["file"]) and re.search(wanted, e["file"][len(root) + 1:])]
for e in entries:
    e["command"] = re.sub(r" -include \S*cmake_pch\S*| -Winvalid-pch| -fsanitize=\S+| -Werror\b", "", e["command"])
json.dump(entries, open(out + "/compile_commands.json", "w"))
print("\n".join(sorted({e["file"] for e in entries})))
E2
xargs -a "build/$preset/tidy/files.txt" -P "$(nproc)" -n 4 "$tidy" -p "build/$preset/tidy" --quiet
