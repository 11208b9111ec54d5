// SPDX-License-Identifier: Apache-2.0
#ifndef INTERFRAME_TESTS_UI_ALLOCATION_COUNT_H
#define INTERFRAME_TESTS_UI_ALLOCATION_COUNT_H

#include <cstdint>

namespace ifr::overlay::testing {

/// Calls of operator new in this program so far.
int64_t num_allocations();

}  // namespace ifr::overlay::testing

#endif  // INTERFRAME_TESTS_UI_ALLOCATION_COUNT_H
