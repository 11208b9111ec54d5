// SPDX-License-Identifier: Apache-2.0
// From what a host asks for to the token ids that a session is fed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "schedule/request.h"

namespace ifr {

// kInvalidArgument: an option out of its range, or an empty prompt where nothing waits to be fed.
[[nodiscard]] Status check_request(const RequestSpec& spec);

// The ids of the prompt after `session`'s conversation, which its caller holds busy. Refused:
// kContextFull when they and one token of answer do not fit, kUnsupported, kInvalidArgument.
[[nodiscard]] Expected<std::vector<int32_t>> encode_request(const Session& session,
                                                            const RequestSpec& spec);

}  // namespace ifr
