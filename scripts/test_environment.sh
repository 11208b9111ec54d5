# SPDX-License-Identifier: Apache-2.0
# Sourced from the root by what runs tests: where bigger models are, and which Python has NumPy.
#
# IFR_REFERENCE_DIR (a folder holding tiny/ and geometry/): as set, else ../shared/reference/*.tar.xz unpacked into the build
# folder. IFR_SMOLLM2: as set, else the copy that setup.sh fetched. IFR_PYTHON: as set, else the first that has NumPy.
if [ -z "${IFR_REFERENCE_DIR:-}" ] && [ -d ../shared/reference ]; then
  export IFR_REFERENCE_DIR=$PWD/build/deps/reference
  for name in tiny geometry; do
    if [ -f "../shared/reference/$name.tar.xz" ] && [ ! -d "$IFR_REFERENCE_DIR/$name" ]; then
      mkdir -p "$IFR_REFERENCE_DIR/.part"
      tar -xJf "../shared/reference/$name.tar.xz" -C "$IFR_REFERENCE_DIR/.part"
      mv "$IFR_REFERENCE_DIR/.part/$name" "$IFR_REFERENCE_DIR/$name"
    fi
  done
fi
if [ -z "${IFR_SMOLLM2:-}" ] && [ -f build/deps/models/SmolLM2-135M-Instruct.Q4_1.gguf ]; then
  export IFR_SMOLLM2=$PWD/build/deps/models/SmolLM2-135M-Instruct.Q4_1.gguf
fi
if [ -z "${IFR_PYTHON:-}" ]; then
  for candidate in python3 /usr/bin/python3; do
    if command -v "$candidate" >/dev/null && "$candidate" -c 'import numpy' 2>/dev/null; then
      IFR_PYTHON=$(command -v "$candidate")
      export IFR_PYTHON
      break
    fi
  done
fi
[ -n "${IFR_REFERENCE_DIR:-}" ] || echo "SKIPPING the tests on tiny and geometry: IFR_REFERENCE_DIR is not set"
[ -n "${IFR_SMOLLM2:-}" ] || echo "SKIPPING the tests on SmolLM2: IFR_SMOLLM2 is not set and setup.sh has not fetched it"
[ -n "${IFR_PYTHON:-}" ] || echo "SKIPPING the tests that need NumPy: no Python has it (package python3-numpy)"
