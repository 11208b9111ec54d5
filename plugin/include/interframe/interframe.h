/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interframe: a language model inside a real-time application, between its frames. The C ABI.
 *
 * How it is used
 *   1. Open the shared library, look up ifr_get_api, call it once: it fills a table of functions.
 *   2. runtime_create, model_load (asynchronous), session_create, request_submit.
 *   3. Once a frame: poll. Text and results arrive there; nothing is called back on a thread of
 *      the plugin but the log sink.
 *   4. runtime_destroy, then close the library.
 *
 * Rules that hold for every call
 *   - ABI version 0: free to change until shared memory and the frame clock have landed.
 *   - Every struct begins with its own size, set by the host. The plugin reads that many bytes,
 *     takes missing fields as zero, and refuses a longer struct whose unknown tail is not zero.
 *     Structs and the table only grow at their end. Structs that the plugin fills are written up to
 *     their struct_size and no further. A struct_size above 4096 is refused.
 *   - Arrays of records carry a stride in bytes, the caller's sizeof of the record. Records that
 *     the plugin fills need no struct_size: the stride says it, and the plugin sets it.
 *   - Strings are UTF-8 with a length; they need no NUL. The host owns every buffer it passes; what
 *     a call needs later it copies. Nothing returned must be freed by the host.
 *   - Threads: any call from any thread, unless its comment says otherwise. No call waits for
 *     inference or for a file, but runtime_create and runtime_destroy (start and join of the
 *     plugin's threads). A call that succeeds allocates memory only where its comment says so.
 *   - On failure outputs are untouched. last_error has the sentence that says what, why and what to
 *     do.
 *   - A null runtime is IFR_ERROR_INVALID_ARGUMENT; one that was destroyed, or was never one,
 *     IFR_ERROR_INVALID_HANDLE.
 *   - Models, sessions and requests are 64-bit handles of one runtime, never reused; 0 is none. A
 *     handle that is closed, of another kind or of another runtime is refused
 *     (IFR_ERROR_INVALID_HANDLE).
 *   - After fork, the child must not call into a runtime made by the parent: it is refused
 *     (IFR_ERROR_INVALID_STATE).
 *   - Limits: 64 runtimes a process; 64 models and 1024 sessions a runtime (INVALID_STATE above);
 *     paths of 32767 bytes, texts of 64 MiB and 65536 messages a request.
 */
#ifndef INTERFRAME_INTERFRAME_H
#define INTERFRAME_INTERFRAME_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define IFR_CALL __cdecl
#if defined(IFR_BUILD_SHARED)
#define IFR_EXPORT __declspec(dllexport)
#else
#define IFR_EXPORT
#endif
#else
#define IFR_CALL
#if defined(IFR_BUILD_SHARED)
#define IFR_EXPORT __attribute__((visibility("default")))
#else
#define IFR_EXPORT
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define IFR_ABI_VERSION 0u

/* ---- Results ------------------------------------------------------------------------------- */

/* ifr_result.code */
#define IFR_OK 0
#define IFR_ERROR_INVALID_ARGUMENT 1 /* an argument is wrong */
#define IFR_ERROR_INVALID_STATE 2    /* the call came at the wrong time */
#define IFR_ERROR_NOT_FOUND 3        /* file, tensor, key or object is missing */
#define IFR_ERROR_INVALID_FILE 4     /* file contents are wrong */
#define IFR_ERROR_UNSUPPORTED 5      /* right, but not something this build or machine does */
#define IFR_ERROR_OUT_OF_MEMORY 6    /* the system refused memory */
#define IFR_ERROR_OVER_BUDGET 7      /* does not fit memory_budget_bytes */
#define IFR_ERROR_CONTEXT_FULL \
  8 /* prompt (and one token of answer) do not fit the session's context */
#define IFR_ERROR_CANCELLED 9
#define IFR_ERROR_IO 10 /* reading failed or came short */
#define IFR_ERROR_DEVICE_LOST 11
#define IFR_ERROR_INTERNAL 12       /* a fault of the plugin; please report it */
#define IFR_ERROR_INVALID_HANDLE 13 /* closed, of another kind, or of another runtime */

/* ifr_result.part: where it came from */
#define IFR_PART_NONE 0
#define IFR_PART_ABI 1
#define IFR_PART_BASE 2
#define IFR_PART_MODEL 3
#define IFR_PART_TOKENIZER 4
#define IFR_PART_ENGINE 5
#define IFR_PART_SCHEDULE 6
#define IFR_PART_MEMORY 7
#define IFR_PART_INTEROP 8
#define IFR_PART_TELEMETRY 9
#define IFR_PART_KERNELS 10

typedef struct ifr_result {
  int32_t code;
  int32_t part;
} ifr_result;

/* ---- Basic types --------------------------------------------------------------------------- */

typedef struct ifr_runtime ifr_runtime; /* opaque */
typedef uint64_t ifr_model;
typedef uint64_t ifr_session;
typedef uint64_t ifr_request;

typedef struct ifr_string {
  const char* data; /* may be null when size_bytes is 0 */
  uint64_t size_bytes;
} ifr_string;

/* ---- Backends ------------------------------------------------------------------------------ */

#define IFR_BACKEND_CPU 0
#define IFR_BACKEND_CUDA 1

typedef struct ifr_backend_info {
  uint32_t struct_size;
  int32_t backend;        /* IFR_BACKEND_*, as asked */
  int32_t available;      /* 1: runtime_create accepts it here */
  int32_t driver_version; /* CUDA: as the driver says it, 13000 for 13.0; 0 without a driver */
  uint64_t memory_bytes;  /* of the device (CPU: physical memory); 0 unknown */
  char device_name[128];  /* NUL-terminated */
  char reason[256];       /* when not available: why, NUL-terminated */
} ifr_backend_info;

/* ---- Runtime ------------------------------------------------------------------------------- */

#define IFR_LOG_DEBUG 0
#define IFR_LOG_INFO 1
#define IFR_LOG_WARNING 2
#define IFR_LOG_ERROR 3

/* NUL-terminated UTF-8, valid during the call. Called from the caller's thread and from the
 * plugin's threads, several at once; must return soon and must not call into the plugin. */
typedef void(IFR_CALL* ifr_log_callback)(void* user, int32_t level, const char* message);

#define IFR_THREAD_PRIORITY_DEFAULT 0 /* below normal: rendering goes first */
#define IFR_THREAD_PRIORITY_NORMAL 1
#define IFR_THREAD_PRIORITY_BELOW_NORMAL 2
#define IFR_THREAD_PRIORITY_LOWEST 3

typedef struct ifr_runtime_info {
  uint32_t struct_size;
  int32_t backend;              /* IFR_BACKEND_* */
  uint64_t memory_budget_bytes; /* weights, caches, states, workspaces; 0: no limit */
  int32_t num_threads; /* CPU threads for inference, 1..256; 0: one fewer than the usable cores, at
                          least 1 */
  int32_t thread_priority; /* IFR_THREAD_PRIORITY_* */
  uint32_t event_capacity; /* events that wait for poll, 16..1048576; 0: 4096. Full: generation
                              pauses, nothing is lost */
  int32_t log_level;       /* lowest level that reaches log */
  ifr_log_callback log;    /* may be null */
  void* log_user;
  char* error_text; /* may be null: gets the NUL-terminated reason when runtime_create fails */
  uint64_t error_capacity; /* bytes of error_text */
} ifr_runtime_info;

/* ---- Models -------------------------------------------------------------------------------- */

typedef struct ifr_model_info {
  uint32_t struct_size;
  int32_t reserved; /* 0 */
  ifr_string path;  /* a .gguf file, or a folder with config.json and safetensors */
} ifr_model_info;

#define IFR_MODEL_LOADING 0
#define IFR_MODEL_READY 1
#define IFR_MODEL_FAILED 2

typedef struct ifr_model_status {
  uint32_t struct_size;
  int32_t state;        /* IFR_MODEL_* */
  ifr_result result;    /* why it failed (IFR_ERROR_CANCELLED after model_cancel) */
  uint64_t done_bytes;  /* loaded so far */
  uint64_t total_bytes; /* 0 until the header is read */
  char message[512];    /* NUL-terminated cause of a failure */
} ifr_model_status;

typedef struct ifr_model_description {
  uint32_t struct_size;
  int32_t num_layers;
  int32_t vocab_size;
  int32_t context_tokens; /* longest the model was made for */
  uint64_t num_parameters;
  uint64_t weight_bytes;            /* in memory; tables that stay in the file are not counted */
  uint64_t session_bytes;           /* of one session whatever its context (recurrent states) */
  uint64_t context_bytes_per_token; /* of a session's caches for each token of its context */
  int32_t has_tokenizer;            /* 0: only token ids can be submitted; answers come as ids */
  int32_t has_chat_form;            /* 1: messages can be submitted */
  int32_t num_selecting_layers;     /* layers with an indexer; their selections can be read */
  int32_t selection_block_tokens;   /* tokens of one block that the indexer chooses, 0 without an
                                       indexer */
  int32_t selection_max_blocks;     /* blocks chosen at most for one query */
  int32_t reserved;
  char architecture[32]; /* "llama", "qwen4_exp"; NUL-terminated */
  char name[128];        /* NUL-terminated, from the file */
} ifr_model_description;

/* ---- Sessions ------------------------------------------------------------------------------ */

typedef struct ifr_session_info {
  uint32_t struct_size;
  int32_t context_tokens; /* 1..the model's; 0: the smaller of the model's and 4096. Memory is
                             reserved here */
} ifr_session_info;

typedef struct ifr_session_status {
  uint32_t struct_size;
  int32_t context_tokens;
  int32_t used_tokens; /* tokens of the conversation so far */
  int32_t busy;        /* 1 while a request of it is not finished */
} ifr_session_status;

/* ---- Requests ------------------------------------------------------------------------------ */

typedef struct ifr_sampling {
  float temperature; /* 0: greedy (lowest id of a tie); finite, >= 0 */
  float top_p;       /* (0, 1]; 1 (or 0): off */
  int32_t top_k;     /* >= 0; 0: off */
  int32_t use_seed;  /* 0: the plugin draws a seed and reports it with the result */
  uint64_t seed;
} ifr_sampling;

#define IFR_ROLE_SYSTEM 0
#define IFR_ROLE_USER 1
#define IFR_ROLE_ASSISTANT 2

typedef struct ifr_message {
  uint32_t struct_size;
  int32_t role;       /* IFR_ROLE_* */
  ifr_string content; /* always text: the names of control tokens in it stay text */
} ifr_message;

/* Names of control tokens in `text` become those tokens: only for trusted text. */
#define IFR_REQUEST_PARSE_SPECIAL 1u
#define IFR_REQUEST_IGNORE_END 2u /* go on past end tokens, up to max_tokens */

/*
 * Exactly one of token_ids, text and messages (one is given when its pointer is not null or its
 * count not 0). The prompt is appended to the session's conversation, whole, whatever becomes of
 * the request: what a cancelled request did not process goes before the next prompt. The prompt and
 * one token of answer must fit the context, else it is refused with IFR_ERROR_CONTEXT_FULL. A
 * beginning-of-sequence token is added where the model wants one. An empty text goes on with the
 * answer that max_tokens or a cancel ended.
 */
typedef struct ifr_request_info {
  uint32_t struct_size;
  uint32_t flags;           /* IFR_REQUEST_* */
  const int32_t* token_ids; /* [num_token_ids], each in 0..vocab_size-1 */
  uint64_t num_token_ids;
  ifr_string text;             /* encoded by the model's tokenizer as it stands */
  const ifr_message* messages; /* new turns in the model's chat form; the answer's is opened */
  uint32_t num_messages;
  uint32_t message_stride; /* sizeof(ifr_message) of the caller */
  int32_t max_tokens;      /* >= 1 */
  int32_t reserved;        /* 0 */
  ifr_sampling sampling;
} ifr_request_info;

/* ---- Events -------------------------------------------------------------------------------- */

#define IFR_EVENT_TOKEN 1    /* one token of an answer */
#define IFR_EVENT_FINISHED 2 /* a request ended; its handle is closed */
#define IFR_EVENT_MODEL_READY 3
#define IFR_EVENT_MODEL_FAILED 4 /* model_status has the cause */

#define IFR_FINISH_END_TOKEN 1 /* the model ended its answer */
#define IFR_FINISH_MAX_TOKENS 2
#define IFR_FINISH_CONTEXT 3 /* the answer filled the context; session_reset makes room */
#define IFR_FINISH_CANCELLED 4
#define IFR_FINISH_ERROR 5 /* result says which; the session is as before the failed step */

/* ifr_event.certainty */
#define IFR_TEXT_FINAL 0     /* will not be taken back */
#define IFR_TEXT_TENTATIVE 1 /* of a draft, may be taken back (not produced yet) */
#define IFR_TEXT_DONE 2      /* final, and nothing follows */

#define IFR_EVENT_TEXT_CAPACITY 128

/*
 * A token longer than the arrays comes as several events of the same position, token_id -1 from the
 * second on. Control tokens come without text and bytes. The token that ends an answer comes as
 * TOKEN too (counted, part of the conversation, without text), then FINISHED.
 */
typedef struct ifr_event {
  uint32_t struct_size;
  int32_t type; /* IFR_EVENT_* */
  ifr_model model;
  ifr_session session;   /* 0 for events of a model */
  ifr_request request;   /* 0 for events of a model */
  int32_t token_id;      /* TOKEN; -1 in the rest of a long token, and for other events */
  int32_t position;      /* TOKEN: index of the token in the conversation */
  int32_t certainty;     /* IFR_TEXT_* */
  int32_t finish_reason; /* FINISHED: IFR_FINISH_* */
  ifr_result result;     /* FINISHED with IFR_FINISH_ERROR, MODEL_FAILED */
  uint32_t text_bytes;   /* TOKEN, FINISHED: whole UTF-8 characters that this event completes; 0
                            without a tokenizer. Bytes that are no UTF-8 come as U+FFFD, a character
                            that the answer's end cuts too (with FINISHED) */
  uint32_t raw_bytes;    /* TOKEN: the token's own bytes */
  char text[IFR_EVENT_TEXT_CAPACITY];
  uint8_t raw[IFR_EVENT_TEXT_CAPACITY];
  /* FINISHED */
  uint64_t seed;            /* what sampling used */
  int32_t prompt_tokens;    /* that the request appended */
  int32_t generated_tokens; /* the one that ended the answer included */
  uint64_t first_token_us;  /* from request_submit to the first token; 0 when there was none */
  uint64_t total_us;        /* from request_submit to the end */
} ifr_event;

/* ---- Telemetry ----------------------------------------------------------------------------- */

/* Times are on one monotonic clock (CLOCK_MONOTONIC, QueryPerformanceCounter), in nanoseconds. */
typedef struct ifr_telemetry {
  uint32_t struct_size;
  int32_t num_active_requests;
  int32_t num_queued_requests;
  int32_t context_tokens; /* of the session that ran last */
  int32_t used_tokens;
  int32_t num_operators;  /* records that telemetry_operators has */
  ifr_model model;        /* that ran last */
  ifr_session session;    /* that ran last */
  uint64_t time_ns;       /* of this snapshot */
  uint64_t prompt_tokens; /* processed since the runtime began */
  uint64_t generated_tokens;
  uint64_t steps;
  float decode_tokens_per_second;  /* over the last second of decoding; 0 when idle */
  float prefill_tokens_per_second; /* of the last prompt */
  float first_token_ms;            /* of the last request that has one */
  float step_ms;                   /* last step */
  uint64_t memory_used_bytes;      /* by the plugin's accounting */
  uint64_t memory_budget_bytes;    /* 0: no limit */
  uint64_t weight_bytes;
  uint64_t cache_bytes;        /* KV and index caches */
  uint64_t state_bytes;        /* recurrent states and workspaces */
  uint64_t num_selection_rows; /* recorded since the runtime began */
} ifr_telemetry;

typedef struct ifr_operator_record {
  uint32_t struct_size;
  int32_t operator_idx; /* stable while the runtime lives */
  uint64_t calls;
  uint64_t total_ns;
  uint64_t last_ns;
  uint64_t max_ns;
  uint64_t bytes; /* that the calls had to move at least */
  uint64_t flops;
  char name[32]; /* NUL-terminated */
} ifr_operator_record;

/* What one query of one layer chose. */
typedef struct ifr_selection_row {
  uint32_t struct_size;
  int32_t layer; /* 0-based among all layers of the model */
  int32_t query_position;
  int32_t num_visible_blocks; /* complete blocks at or before the query */
  int32_t num_blocks;         /* entries of this row, in rank order (best first) */
  int32_t reserved;
  uint64_t sequence; /* from 1; increases by one a row of the session's layer */
} ifr_selection_row;

typedef struct ifr_selection_read {
  uint32_t struct_size;
  int32_t layer;           /* 0-based among all layers; must be one that selects */
  uint64_t first_sequence; /* in: the first row wanted (0: the oldest kept) */
  ifr_selection_row* rows; /* [row_capacity], caller's */
  uint32_t row_stride;     /* sizeof(ifr_selection_row) of the caller */
  uint32_t row_capacity;
  int32_t* block_idx;      /* [row_capacity, entry_capacity], -1 padded; may be null */
  float* scores;           /* [row_capacity, entry_capacity]; may be null */
  uint32_t entry_capacity; /* a row with more keeps its best */
  uint32_t num_rows;       /* out */
  uint64_t next_sequence;  /* out: first_sequence of the next call */
  uint64_t num_lost_rows;  /* out: asked for, but overwritten by newer ones */
} ifr_selection_read;

/* ---- The table ----------------------------------------------------------------------------- */

typedef struct ifr_api {
  uint32_t struct_size; /* set by the host before ifr_get_api; the plugin fills no more */
  uint32_t abi_version; /* out: IFR_ABI_VERSION of the plugin */
  const char* version;  /* out: semantic version, static */

  /* Names a code, e.g. "IFR_ERROR_IO"; static text, never null. */
  const char*(IFR_CALL* result_string)(ifr_result result);

  /* Says whether a backend works here, without starting it (CUDA: opens and closes the driver
   * library). May take some ms: not for the frame thread. Codes: INVALID_ARGUMENT. */
  ifr_result(IFR_CALL* backend_query)(int32_t backend, ifr_backend_info* out_info);

  /* Starts a runtime: its threads and nothing else. Blocks for that. Allocates.
   * Codes: INVALID_ARGUMENT, UNSUPPORTED (backend not there: error_text has the reason),
   * OUT_OF_MEMORY. */
  ifr_result(IFR_CALL* runtime_create)(const ifr_runtime_info* info, ifr_runtime** out_runtime);

  /* Cancels everything, waits for the step in flight (bound: one quantum of work, at most 2 s with
   * models that answer in real time), frees all. Null is accepted. No other call may use the
   * runtime meanwhile or later. */
  ifr_result(IFR_CALL* runtime_destroy)(ifr_runtime* runtime);

  /* Copies the message of the last call, or request, that failed on this runtime, NUL-terminated,
   * cut to capacity (out_length: its full length; may be null). Codes: INVALID_ARGUMENT. */
  ifr_result(IFR_CALL* last_error)(ifr_runtime* runtime, char* text, uint64_t capacity,
                                   uint64_t* out_length);

  /* Begins to load a model on a thread of the plugin and returns; models load one after another.
   * Progress by model_status, the end as an event. Allocates. Codes: INVALID_ARGUMENT (path empty
   * or not UTF-8), INVALID_STATE (too many models), OUT_OF_MEMORY. */
  ifr_result(IFR_CALL* model_load)(ifr_runtime* runtime, const ifr_model_info* info,
                                   ifr_model* out_model);
  ifr_result(IFR_CALL* model_status)(ifr_runtime* runtime, ifr_model model,
                                     ifr_model_status* out_status);
  /* Stops a load within 100 ms; it ends as MODEL_FAILED with IFR_ERROR_CANCELLED. No effect on a
   * model that is ready or has failed. */
  ifr_result(IFR_CALL* model_cancel)(ifr_runtime* runtime, ifr_model model);
  /* Closes the handle (a load is cancelled, no event follows). Sessions keep the model until the
   * last of them is destroyed. */
  ifr_result(IFR_CALL* model_release)(ifr_runtime* runtime, ifr_model model);
  /* Codes: INVALID_STATE while it is not ready. */
  ifr_result(IFR_CALL* model_describe)(ifr_runtime* runtime, ifr_model model,
                                       ifr_model_description* out_description);

  /* Encodes text, nothing added before or after it. Two-call use: ids null and capacity 0 gives the
   * count. Too small a capacity writes nothing, sets out_count and returns INVALID_ARGUMENT. flags:
   * IFR_REQUEST_PARSE_SPECIAL. Allocates; time grows with the text: not for the frame thread with
   * long texts. Codes: UNSUPPORTED (no tokenizer), INVALID_STATE, INVALID_ARGUMENT. */
  ifr_result(IFR_CALL* tokenize)(ifr_runtime* runtime, ifr_model model, ifr_string text,
                                 uint32_t flags, int32_t* ids, uint64_t capacity,
                                 uint64_t* out_count);
  /* The bytes of tokens (of control tokens their names), not NUL-terminated, same two-call use.
   * They may cut a character where the tokens do. */
  ifr_result(IFR_CALL* detokenize)(ifr_runtime* runtime, ifr_model model, const int32_t* ids,
                                   uint64_t num_ids, char* text, uint64_t capacity,
                                   uint64_t* out_bytes);

  /* A conversation. Reserves all memory its context can need. Allocates.
   * Codes: INVALID_STATE (model not ready), INVALID_ARGUMENT, OVER_BUDGET (message has need, free
   * and budget), OUT_OF_MEMORY. */
  ifr_result(IFR_CALL* session_create)(ifr_runtime* runtime, ifr_model model,
                                       const ifr_session_info* info, ifr_session* out_session);
  /* Cancels its request, if any (FINISHED still comes), and closes it at once; its memory comes
   * back when the step in flight ends. */
  ifr_result(IFR_CALL* session_destroy)(ifr_runtime* runtime, ifr_session session);
  /* Forgets the conversation, keeps the memory. Codes: INVALID_STATE while a request runs. */
  ifr_result(IFR_CALL* session_reset)(ifr_runtime* runtime, ifr_session session);
  ifr_result(IFR_CALL* session_status)(ifr_runtime* runtime, ifr_session session,
                                       ifr_session_status* out_status);
  /* Copies the conversation's token ids [first, first + capacity) as far as they exist. */
  ifr_result(IFR_CALL* session_tokens)(ifr_runtime* runtime, ifr_session session, int32_t first,
                                       int32_t* ids, uint32_t capacity, uint32_t* out_count);

  /* Queues work and returns; sessions take turns. One request a session at a time. The session is
   * unchanged when it is refused. Allocates. Codes: INVALID_ARGUMENT, INVALID_STATE (busy),
   * UNSUPPORTED (text without tokenizer, messages without chat form), CONTEXT_FULL (message has
   * needed and available tokens). */
  ifr_result(IFR_CALL* request_submit)(ifr_runtime* runtime, ifr_session session,
                                       const ifr_request_info* info, ifr_request* out_request);
  /* Asks for the end; it comes as FINISHED within one step (a chunk of a prompt is made to last 100
   * ms at most). A request that has ended is not an error until its FINISHED was polled, which
   * closes its handle. */
  ifr_result(IFR_CALL* request_cancel)(ifr_runtime* runtime, ifr_request request);

  /* Takes waiting events, oldest first. Never blocks, never allocates: for the frame thread. One
   * thread at a time, else INVALID_STATE. event_stride: sizeof(ifr_event) of the caller. */
  ifr_result(IFR_CALL* poll)(ifr_runtime* runtime, ifr_event* events, uint32_t event_stride,
                             uint32_t capacity, uint32_t* out_count);

  /* Operator times and selections are recorded while enabled (0 or 1; default 1). */
  ifr_result(IFR_CALL* telemetry_enable)(ifr_runtime* runtime, int32_t enabled);
  /* Snapshots for the frame thread: no lock, no wait. Times and counts are of the steps that have
   * ended. */
  ifr_result(IFR_CALL* telemetry_read)(ifr_runtime* runtime, ifr_telemetry* out_telemetry);
  ifr_result(IFR_CALL* telemetry_operators)(ifr_runtime* runtime, ifr_operator_record* records,
                                            uint32_t record_stride, uint32_t capacity,
                                            uint32_t* out_count);
  /* The newest 256 rows of each selecting layer are kept; session_reset forgets them. Codes:
   * INVALID_ARGUMENT when the layer does not select. */
  ifr_result(IFR_CALL* telemetry_selections)(ifr_runtime* runtime, ifr_session session,
                                             ifr_selection_read* inout_read);
  /* The layers of a model that select, ascending; two-call use as tokenize. */
  ifr_result(IFR_CALL* model_selecting_layers)(ifr_runtime* runtime, ifr_model model,
                                               int32_t* layers, uint32_t capacity,
                                               uint32_t* out_count);
} ifr_api;

/*
 * The only exported symbol. Fills the table up to out_api->struct_size. Thread-safe, no side
 * effects, no CUDA. Codes: INVALID_ARGUMENT (null, struct_size too small to hold abi_version),
 * UNSUPPORTED (another ABI version is asked for).
 */
#if defined(IFR_BUILD_SHARED) || defined(IFR_LINK_DIRECTLY)
IFR_EXPORT ifr_result IFR_CALL ifr_get_api(uint32_t abi_version, ifr_api* out_api);
#endif
typedef ifr_result(IFR_CALL* ifr_get_api_function)(uint32_t abi_version, ifr_api* out_api);

#ifdef __cplusplus
}
#endif

#endif /* INTERFRAME_INTERFRAME_H */
