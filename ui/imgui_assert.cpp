// SPDX-License-Identifier: Apache-2.0
// The assert that the pinned Dear ImGui distribution calls (its imconfig.h declares it and leaves
// it to the program). Alone in its object file: a program that defines the function itself gets its
// own.
#include <cstdio>
#include <cstdlib>

// The name is the distribution's.
void slimgui_assert(const char* file, int line, const char* expr);

void slimgui_assert(const char* file, int line, const char* expr) {
  std::fprintf(stderr, "ImGui: assertion failed: %s (%s:%d)\n", expr, file, line);
#ifndef NDEBUG
  std::abort();
#endif
}
