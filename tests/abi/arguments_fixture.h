// SPDX-License-Identifier: Apache-2.0
// A runtime with a model and a session, and how a refusal is checked.
#pragma once

#include <string>

#include "abi/abi_fixture.h"

namespace ifr::test {

class AbiArguments : public testing::Test {
 protected:
  AbiArguments() : host(library.api), api(library.api), runtime(host.runtime) {
    model = host.load();
    session = host.session(model, 64);
  }
  // The call is refused, and the last error says `text`.
  void refused(ifr_result result, int32_t code, const std::string& text) const {
    EXPECT_EQ(result.code, code) << api.result_string(result) << ": " << host.error();
    EXPECT_NE(host.error().find(text), std::string::npos)
        << "'" << host.error() << "' does not speak of '" << text << "'";
  }
  void invalid(ifr_result result, const std::string& text) const {
    refused(result, IFR_ERROR_INVALID_ARGUMENT, text);
  }

  OpenLibrary library;
  AbiHost host;
  const ifr_api& api;
  ifr_runtime* runtime;
  ifr_model model = 0;
  ifr_session session = 0;
};

}  // namespace ifr::test
