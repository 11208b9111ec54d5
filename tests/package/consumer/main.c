/* SPDX-License-Identifier: Apache-2.0 */
/* A host in C that links the installed library: loads a model, prints 8 tokens. */
#include <interframe/interframe.h>
#include <stdio.h>
#include <string.h>

static int fail(const ifr_api* api, ifr_runtime* runtime, ifr_result result, const char* what) {
  char text[512] = "";
  if (runtime != NULL) {
    api->last_error(runtime, text, sizeof text, NULL);
  }
  fprintf(stderr, "%s: %s: %s\n", what, api->result_string(result), text);
  return 1;
}

int main(int argc, char** argv) {
  ifr_api api = {.struct_size = sizeof api};
  if (argc != 2 || ifr_get_api(IFR_ABI_VERSION, &api).code != IFR_OK) {
    fprintf(stderr, "usage: consumer MODEL\n");
    return 1;
  }
  ifr_runtime_info runtime_info = {.struct_size = sizeof runtime_info, .backend = IFR_BACKEND_CPU};
  ifr_runtime* runtime = NULL;
  ifr_result result = api.runtime_create(&runtime_info, &runtime);
  if (result.code != IFR_OK) {
    return fail(&api, NULL, result, "runtime_create");
  }
  ifr_model_info model_info = {.struct_size = sizeof model_info,
                               .path = {argv[1], strlen(argv[1])}};
  ifr_model model = 0;
  result = api.model_load(runtime, &model_info, &model);
  if (result.code != IFR_OK) {
    return fail(&api, runtime, result, "model_load");
  }
  const int32_t prompt[] = {72, 105};
  int done = 0;
  int generated = 0;
  while (!done) {
    ifr_event event = {.struct_size = sizeof event};
    uint32_t count = 0;
    result = api.poll(runtime, &event, sizeof event, 1, &count);
    if (result.code != IFR_OK) {
      return fail(&api, runtime, result, "poll");
    }
    if (count == 0) {
      continue; /* a real host renders a frame here */
    }
    if (event.type == IFR_EVENT_MODEL_FAILED) {
      ifr_model_status status = {.struct_size = sizeof status};
      api.model_status(runtime, model, &status);
      fprintf(stderr, "load: %s\n", status.message);
      return 1;
    }
    if (event.type == IFR_EVENT_MODEL_READY) {
      ifr_session_info session_info = {.struct_size = sizeof session_info, .context_tokens = 64};
      ifr_session session = 0;
      result = api.session_create(runtime, model, &session_info, &session);
      if (result.code != IFR_OK) {
        return fail(&api, runtime, result, "session_create");
      }
      ifr_request_info request_info = {.struct_size = sizeof request_info,
                                       .flags = IFR_REQUEST_IGNORE_END,
                                       .token_ids = prompt,
                                       .num_token_ids = 2,
                                       .max_tokens = 8};
      ifr_request request = 0;
      result = api.request_submit(runtime, session, &request_info, &request);
      if (result.code != IFR_OK) {
        return fail(&api, runtime, result, "request_submit");
      }
    }
    if (event.type == IFR_EVENT_TOKEN) {
      printf("%d ", event.token_id);
      ++generated;
    }
    if (event.type == IFR_EVENT_FINISHED) {
      done = 1;
    }
  }
  printf("\n");
  api.runtime_destroy(runtime);
  return generated == 8 ? 0 : 1;
}
