// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>

#include "application.h"
#include "options.h"

int main(int argc, char** argv) {
  try {
    const auto parsed = ifr::host::parse_options(argc, argv);
    if (const int* code = std::get_if<int>(&parsed)) {
      return *code;
    }
    return ifr::host::run_application(*std::get_if<ifr::host::Options>(&parsed));
  } catch (const std::exception& error) {
    // Libraries below may throw where we cannot foresee it (out of memory above all).
    std::fprintf(stderr, "interframe-host: %s\n", error.what());
    return ifr::host::kExitGraphics;
  }
}
