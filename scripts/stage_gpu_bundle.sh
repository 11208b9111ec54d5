#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copies what a machine with a GPU, but without this tree's build or packages, needs to run the GPU tests and benches:
# stripped programs, the shared libraries they need that no such machine brings, the peers' scripts and the tests' data.
# The bundle may lie anywhere; `OUT_DIR/run PROGRAM [ARGUMENT ...]` starts a program of it with its libraries.
#
#   scripts/stage_gpu_bundle.sh BUILD_DIR OUT_DIR [PROGRAM ...]
#
# PROGRAM is a name in BUILD_DIR/bin; by default every *_cuda test and bench_* that is there.
set -euo pipefail
if [ $# -lt 2 ]; then
  sed -n '3,10s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
out=$2
shift 2

if [ $# -gt 0 ]; then
  programs=("$@")
else
  programs=()
  for program in "$build"/bin/*_cuda "$build"/bin/bench_*; do
    [ -x "$program" ] && programs+=("$(basename "$program")")
  done
fi
if [ ${#programs[@]} -eq 0 ]; then
  echo "stage_gpu_bundle: no GPU test or bench in $build/bin; build with IFR_WITH_CUDA=ON first" >&2
  exit 1
fi
rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/scripts" "$out/data"

# The C and C++ runtimes and the driver belong to the machine.
is_system() {
  case "$1" in
    linux-vdso.so* | ld-linux* | libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | \
      libstdc++.so* | libgcc_s.so* | libcuda.so*) return 0 ;;
  esac
  return 1
}

for program in "${programs[@]}"; do
  if [ ! -x "$build/bin/$program" ]; then
    echo "stage_gpu_bundle: $build/bin/$program is not built" >&2
    exit 1
  fi
  strip -o "$out/bin/$program" "$build/bin/$program"
  while read -r name _ path _; do
    is_system "$(basename "$name")" && continue
    if [ ! -e "$path" ]; then
      echo "stage_gpu_bundle: $program needs $name, which is not on this machine" >&2
      exit 1
    fi
    if [ ! -e "$out/lib/$name" ]; then
      strip -o "$out/lib/$name" "$(readlink -f "$path")"
    fi
  done < <(ldd "$build/bin/$program" | grep '=>')
done

cp "$root"/kernels/bench/peer_*.py "$out/scripts/"
if [ -d "$root/assets/micro" ]; then
  cp -r "$root/assets/micro" "$out/data/micro"
fi
if [ -d "$root/tests/golden" ]; then
  cp -r "$root/tests/golden" "$out/data/golden"
fi
cat > "$out/run" << 'RUN'
#!/bin/sh
# run PROGRAM [ARGUMENT ...]
here=$(cd "$(dirname "$0")" && pwd)
program=$1
shift
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/bin/$program" "$@"
RUN
chmod +x "$out/run"
du -sh "$out" | cut -f1 | sed 's/^/stage_gpu_bundle: /'
