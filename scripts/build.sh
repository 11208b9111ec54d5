#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures (first time) and builds one preset.   scripts/build.sh PRESET [TARGET ...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
if [ ! -f "build/$preset/build.ninja" ]; then
  cmake --preset "$preset"
fi
cmake --build "build/$preset" ${1:+--target "$@"}
