// SPDX-License-Identifier: Apache-2.0
// write_gguf_b FILE: the small dense model that tests of programs run.
#include <cstdio>

#include "support/gguf_builder.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "write_gguf_b FILE\n");
    return 2;
  }
  ifr::test::write_file(argv[1], ifr::test::make_gguf_b({.context_length = 512}).build());
  return 0;
}
