// SPDX-License-Identifier: Apache-2.0
// Both headers alone, as pedantic C++20 without exceptions.
#include <interframe/interframe.h>
#include <interframe/interframe.hpp>

int header_cpp20();

int header_cpp20() {
  return static_cast<int>(interframe::make<ifr_api>().struct_size);
}
