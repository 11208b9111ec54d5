#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds one sanitizer preset (asan or tsan) and runs the tests there that are not labelled slow, bench, lint or package,
# on the small models of the tree.
#
#   scripts/sanitize.sh asan|tsan [ctest arguments]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?asan or tsan}
shift
if [ ! -f "build/$preset/build.ninja" ]; then
  cmake --preset "$preset" -DIFR_WITH_HOST=OFF -DIFR_BUILD_BENCH=OFF
fi
cmake --build "build/$preset"
. scripts/test_environment.sh
# Minutes under a sanitizer, and no path that the micro models do not take.
unset IFR_REFERENCE_DIR IFR_SMOLLM2
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -LE 'slow|bench|lint|package' "$@"
