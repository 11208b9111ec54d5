// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <interframe/interframe.hpp>
#include <vector>

template <typename T>
T take(interframe::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  return std::move(*result);
}

int main(int argc, char** argv) {  // minimal LIBRARY MODEL PROMPT
  if (argc != 4)
    return 2;
  auto library = take(interframe::Library::open(argv[1]));
  auto runtime = take(interframe::Runtime::create(library, interframe::make<ifr_runtime_info>()));
  auto model = take(runtime.load_model(argv[2]));  // returns at once; loads on its own thread
  std::vector<interframe::Session> sessions;
  std::vector<ifr_event> events(64);
  for (bool running = true; running;) {  // your frame loop: render here
    for (uint32_t i = 0, count = take(runtime.poll(events)); i < count; ++i) {  // never blocks
      const ifr_event& event = events[i];
      if (event.type == IFR_EVENT_MODEL_FAILED)
        return std::fprintf(stderr, "%s\n", take(model.status()).message), 1;
      if (event.type == IFR_EVENT_MODEL_READY) {
        sessions.push_back(take(model.create_session(2048)));
        const interframe::Message message{IFR_ROLE_USER, argv[3]};
        take(sessions.back().submit_messages({&message, 1}, {.max_tokens = 100}));
      }
      const std::string_view text = interframe::text_of(event);
      std::fwrite(text.data(), 1, text.size(), stdout);
      running = event.type != IFR_EVENT_FINISHED;
    }
  }
}
