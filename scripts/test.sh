#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up the machine, builds preset `release`, runs every test.   scripts/test.sh [ctest arguments]
#
# Bigger reference models are used when they are there: IFR_REFERENCE_DIR (a folder holding tiny/ and geometry/), else
# ../shared/reference/*.tar.xz is unpacked into the build folder. IFR_SMOLLM2 names another copy of the default model.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh test
scripts/build.sh release

if [ -z "${IFR_REFERENCE_DIR:-}" ] && [ -d ../shared/reference ]; then
  export IFR_REFERENCE_DIR=$PWD/build/release/reference
  for name in tiny geometry; do
    if [ -f "../shared/reference/$name.tar.xz" ] && [ ! -d "$IFR_REFERENCE_DIR/$name" ]; then
      mkdir -p "$IFR_REFERENCE_DIR/.part"
      tar -xJf "../shared/reference/$name.tar.xz" -C "$IFR_REFERENCE_DIR/.part"
      mv "$IFR_REFERENCE_DIR/.part/$name" "$IFR_REFERENCE_DIR/$name"
    fi
  done
fi
model=$PWD/build/deps/models/SmolLM2-135M-Instruct.Q4_1.gguf
if [ -z "${IFR_SMOLLM2:-}" ] && [ -f "$model" ]; then
  export IFR_SMOLLM2=$model
fi

exec ctest --test-dir build/release --output-on-failure --no-tests=error "$@"
