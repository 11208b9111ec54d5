#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every C, C++ and CUDA file is as clang-format 14 writes it. Exit 77 (skip) where that version is absent.
set -euo pipefail
root=$1
tool=""
for candidate in clang-format-14 clang-format; do
  if command -v "$candidate" >/dev/null && "$candidate" --version | grep -q 'version 14\.'; then
    tool=$candidate
    break
  fi
done
if [ -z "$tool" ]; then
  echo "SKIPPED: clang-format 14 is not installed (package clang-format-14)"
  exit 77
fi
cd "$root"
if git rev-parse --git-dir >/dev/null 2>&1; then
  list() { git ls-files -z -- '*.h' '*.hpp' '*.c' '*.cpp' '*.cu' '*.cuh'; }
else
  list() { find plugin kernels host_app ui shaders tests tools -regex '.*\.\(h\|hpp\|c\|cpp\|cu\|cuh\)' -print0; }
fi
list | xargs -0 -r "$tool" --dry-run --Werror
