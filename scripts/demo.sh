#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up the machine, builds preset `release` and runs the demo: a window with the scene, the chat and the overlay, or,
# without a display, a picture (demo.png) and the answer in the terminal.
#
#   scripts/demo.sh [--headless] [arguments of interframe-host, e.g. --prompt TEXT --model PATH]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh build
scripts/build.sh release interframe-host interframe

host=build/release/bin/interframe-host
if [ ! -x "$host" ]; then
  echo "demo: interframe-host was not built; the configure step says what is missing (rm -rf build/release and run again)" >&2
  exit 1
fi

has() { # has OPTION: among the arguments?
  local argument
  for argument in "${arguments[@]}"; do
    case "$argument" in "$1" | "$1="*) return 0 ;; esac
  done
  return 1
}

arguments=("$@")
if ! has --model; then
  model=build/deps/models/SmolLM2-135M-Instruct.Q4_1.gguf
  [ -f "$model" ] || model=assets/micro
  arguments+=(--model "$model")
fi
if ! has --headless && [ -z "${DISPLAY:-}" ] && [ -z "${WAYLAND_DISPLAY:-}" ]; then
  echo "demo: no display, so it runs headless"
  arguments+=(--headless)
fi
if has --headless; then
  has --prompt || arguments+=(--prompt "In two sentences: why is the sky blue?")
  has --screenshot || arguments+=(--screenshot demo.png)
  has --frames || arguments+=(--until-done)
fi
exec "$host" "${arguments[@]}"
