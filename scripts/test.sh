#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up the machine, builds preset `release`, runs every test.   scripts/test.sh [ctest arguments]
# Bigger models and Python are found as scripts/test_environment.sh says.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh test
scripts/build.sh release
. scripts/test_environment.sh
exec ctest --test-dir build/release --output-on-failure --no-tests=error "$@"
