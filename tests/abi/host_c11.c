/* SPDX-License-Identifier: Apache-2.0 */
/* A host in C11: opens the library, loads a model, generates greedily, polls, closes everything.
 * host_c11 LIBRARY MODEL [NUM_TOKENS]: prints the ids on one line. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <interframe/interframe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void sleep_1ms(void) {
  const struct timespec pause = {0, 1000000};
  (void)nanosleep(&pause, NULL);
}

static int fail(const ifr_api* api, ifr_runtime* runtime, const char* what, ifr_result result) {
  char message[1024] = "";
  if (runtime != NULL) {
    (void)api->last_error(runtime, message, sizeof message, NULL);
  }
  (void)fprintf(stderr, "%s: %s (part %d): %s\n", what, api->result_string(result), result.part,
                message);
  return 1;
}

static int load_model(const ifr_api* api, ifr_runtime* runtime, const char* path,
                      ifr_model* out_model) {
  ifr_model_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = (uint32_t)sizeof info;
  info.path.data = path;
  info.path.size_bytes = strlen(path);
  const ifr_result result = api->model_load(runtime, &info, out_model);
  if (result.code != IFR_OK) {
    return fail(api, runtime, "model_load", result);
  }
  for (;;) {
    ifr_event event;
    uint32_t count = 0;
    const ifr_result polled = api->poll(runtime, &event, (uint32_t)sizeof event, 1, &count);
    if (polled.code != IFR_OK) {
      return fail(api, runtime, "poll", polled);
    }
    if (count == 1 && event.type == IFR_EVENT_MODEL_READY && event.model == *out_model) {
      return 0;
    }
    if (count == 1 && event.type == IFR_EVENT_MODEL_FAILED) {
      ifr_model_status status;
      memset(&status, 0, sizeof status);
      status.struct_size = (uint32_t)sizeof status;
      (void)api->model_status(runtime, *out_model, &status);
      (void)fprintf(stderr, "%s\n", status.message);
      return 1;
    }
    sleep_1ms();
  }
}

static int generate(const ifr_api* api, ifr_runtime* runtime, ifr_session session,
                    int32_t max_tokens) {
  const int32_t prompt[] = {1, 17, 42, 99};
  ifr_request_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = (uint32_t)sizeof info;
  info.flags = IFR_REQUEST_IGNORE_END;
  info.token_ids = prompt;
  info.num_token_ids = sizeof prompt / sizeof prompt[0];
  info.max_tokens = max_tokens;
  ifr_request request = 0;
  const ifr_result result = api->request_submit(runtime, session, &info, &request);
  if (result.code != IFR_OK) {
    return fail(api, runtime, "request_submit", result);
  }
  for (;;) {
    ifr_event events[4];
    uint32_t count = 0;
    const ifr_result polled = api->poll(runtime, events, (uint32_t)sizeof events[0], 4, &count);
    if (polled.code != IFR_OK) {
      return fail(api, runtime, "poll", polled);
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (events[i].type == IFR_EVENT_TOKEN) {
        (void)printf("%d ", events[i].token_id);
      } else if (events[i].type == IFR_EVENT_FINISHED) {
        (void)printf("\n");
        return events[i].finish_reason == IFR_FINISH_MAX_TOKENS ? 0 : 1;
      }
    }
    if (count == 0) {
      sleep_1ms();
    }
  }
}

static int run(const ifr_api* api, const char* model_path, int32_t max_tokens) {
  char reason[256] = "";
  ifr_runtime_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = (uint32_t)sizeof info;
  info.backend = IFR_BACKEND_CPU;
  info.num_threads = 2;
  info.error_text = reason;
  info.error_capacity = sizeof reason;
  ifr_runtime* runtime = NULL;
  const ifr_result created = api->runtime_create(&info, &runtime);
  if (created.code != IFR_OK) {
    (void)fprintf(stderr, "%s\n", reason);
    return 1;
  }
  ifr_model model = 0;
  int status = load_model(api, runtime, model_path, &model);
  if (status == 0) {
    ifr_session_info session_info;
    memset(&session_info, 0, sizeof session_info);
    session_info.struct_size = (uint32_t)sizeof session_info;
    session_info.context_tokens = 128;
    ifr_session session = 0;
    const ifr_result opened = api->session_create(runtime, model, &session_info, &session);
    status = opened.code == IFR_OK ? generate(api, runtime, session, max_tokens)
                                   : fail(api, runtime, "session_create", opened);
  }
  return api->runtime_destroy(runtime).code == IFR_OK ? status : 1;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    (void)fprintf(stderr, "usage: host_c11 LIBRARY MODEL [NUM_TOKENS]\n");
    return 2;
  }
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    (void)fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  /* C has no conversion from object to function pointers; POSIX says their bytes are the same. */
  ifr_get_api_function get_api = NULL;
  void* symbol = dlsym(library, "ifr_get_api");
  memcpy(&get_api, &symbol, sizeof get_api);
  ifr_api api;
  memset(&api, 0, sizeof api);
  api.struct_size = (uint32_t)sizeof api;
  if (get_api == NULL || get_api(IFR_ABI_VERSION, &api).code != IFR_OK) {
    (void)fprintf(stderr, "%s is not Interframe of ABI version %u\n", argv[1], IFR_ABI_VERSION);
    return 1;
  }
  const int status = run(&api, argv[2], argc > 3 ? atoi(argv[3]) : 8);
  return dlclose(library) == 0 ? status : 1;
}
