/*
 * libgossamer_sandbox: run a command under a policy. C interface; a C++ wrapper is in
 * gossamer_sandbox.hpp. Linux only for now.
 *
 * Threads: every function may be called from any thread; one policy or run is used by one thread at
 * a time. Any number of runs at once. The calling process is never forked.
 *
 * Strings that come in are copied. Strings that go out as `char *` are the caller's and are freed
 * with gsb_string_free; `const char *` belong to the object they came from. Paths are bytes, ended
 * by NUL. Functions that can fail take `gsb_error **error`: on failure it is set (unless NULL) and
 * belongs to the caller.
 */
#pragma once
#ifndef GOSSAMER_SANDBOX_H
#define GOSSAMER_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(GSB_BUILDING)
#define GSB_API __attribute__((visibility("default")))
#else
#define GSB_API
#endif

#define GSB_VERSION_MAJOR 0
#define GSB_VERSION_MINOR 1

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct gsb_error gsb_error;
typedef enum gsb_error_kind {
  GSB_ERROR_POLICY = 1,        /* the policy contradicts itself or cannot be kept here */
  GSB_ERROR_NOT_FOUND = 2,     /* the command does not exist, or not inside the view */
  GSB_ERROR_UNAVAILABLE = 3,   /* this host cannot give the level */
  GSB_ERROR_NOT_EXECUTABLE = 4 /* found, and cannot be executed */
} gsb_error_kind;

GSB_API gsb_error_kind gsb_error_get_kind(const gsb_error* error);
/* One sentence; never NULL. Bytes that are not printable ASCII are escaped. */
GSB_API const char* gsb_error_text(const gsb_error* error);
/* What to do about it, or "". */
GSB_API const char* gsb_error_remedy(const gsb_error* error);
/* Of GSB_ERROR_UNAVAILABLE: the primitive that is missing; otherwise "". */
GSB_API const char* gsb_error_primitive(const gsb_error* error);
/* The exit code of `bwr` for it: 126, 127 or 64. */
GSB_API int gsb_error_exit_code(const gsb_error* error);
GSB_API void gsb_error_free(gsb_error* error);

GSB_API void gsb_string_free(char* text);

/* ---- policies -------------------------------------------------------------------------------- */

typedef struct gsb_policy gsb_policy;

/* Grants nothing, at level strict, without network. */
GSB_API gsb_policy* gsb_policy_new(void);
/* The shipped policy of commands for a working directory (NULL: the current one): the system
 * read-only, the directory read-write, credentials denied, no network, level standard. */
GSB_API gsb_policy* gsb_policy_command_default(const char* directory, gsb_error** error);
GSB_API gsb_policy* gsb_policy_copy(const gsb_policy* policy);
GSB_API void gsb_policy_free(gsb_policy* policy);

/* What cannot be accepted (an unknown word, a bad name) is kept as a problem of the policy, which
 * gsb_policy_check and every start then report: nothing falls back to a default. */
/* none, basic, standard, strict */
GSB_API void gsb_policy_level(gsb_policy* policy, const char* level);
GSB_API void gsb_policy_read_only(gsb_policy* policy, const char* path);
GSB_API void gsb_policy_read_write(gsb_policy* policy, const char* path);
GSB_API void gsb_policy_deny(gsb_policy* policy, const char* path);
/* none, client, open */
GSB_API void gsb_policy_network(gsb_policy* policy, const char* mode);
GSB_API void gsb_policy_env_allow(gsb_policy* policy, const char* name);
GSB_API void gsb_policy_env_set(gsb_policy* policy, const char* name, const char* value);
/* private, inherit */
GSB_API void gsb_policy_temp(gsb_policy* policy, const char* mode);
GSB_API void gsb_policy_working_directory(gsb_policy* policy, const char* path);

/* 0 if the policy holds together; -1 and *error otherwise. */
GSB_API int gsb_policy_check(const gsb_policy* policy, gsb_error** error);
/* What the policy says about a path: "deny", "read-only" or "read-write". */
GSB_API const char* gsb_policy_access(const gsb_policy* policy, const char* path);
/* The compiled policy for a command, as text or as one JSON object; NULL and *error on failure. */
GSB_API char* gsb_policy_explain(const gsb_policy* policy, const char* const* argv, int json,
                                 gsb_error** error);

/* ---- this host ------------------------------------------------------------------------------- */

GSB_API const char* gsb_platform(void); /* "linux" */
/* The strictest level that this host gives: "none", "basic", "standard" or "strict". */
GSB_API const char* gsb_max_level(void);
GSB_API char* gsb_capabilities_json(void);

/* ---- running --------------------------------------------------------------------------------- */

typedef struct gsb_options {
  size_t size;                    /* sizeof(gsb_options): set by gsb_options_init */
  const char* const* environment; /* NAME=VALUE, ended by NULL; NULL: the caller's environ */
  int standard_input;             /* descriptors for 0, 1, 2 of the command; -1: /dev/null */
  int standard_output;
  int standard_error;
  uint64_t capture_limit; /* bytes of each stream that gsb_run_capture keeps */
  int new_session;        /* 1: no controlling terminal */
} gsb_options;
GSB_API void gsb_options_init(gsb_options* options);

typedef struct gsb_result {
  size_t size; /* sizeof(gsb_result), set by the caller */
  int code;    /* of the command; 128 + signal if it died of one */
  int signal;  /* 0 if it exited */
  double wall_seconds;
  double cpu_seconds;
  uint64_t peak_bytes;
  uint32_t killed;       /* processes that were still there when the command ended */
  int temporary_removed; /* 1: the private temp is gone */
} gsb_result;

typedef struct gsb_run gsb_run;
/* Starts argv[0] (looked up on PATH unless it has a slash); NULL and *error if nothing was run. */
GSB_API gsb_run* gsb_start(const gsb_policy* policy, const char* const* argv,
                           const gsb_options* options, gsb_error** error);
/* Readable when gsb_run_take has something to say. */
GSB_API int gsb_run_descriptor(const gsb_run* run);
typedef enum gsb_event {
  GSB_EVENT_NOTHING,
  GSB_EVENT_STOPPED,
  GSB_EVENT_CONTINUED,
  GSB_EVENT_ENDED,
  GSB_EVENT_ERROR
} gsb_event;
/* Never waits. GSB_EVENT_ERROR sets *error. */
GSB_API gsb_event gsb_run_take(gsb_run* run, gsb_error** error);
/* Waits until the run has ended; 0, or -1 and *error. */
GSB_API int gsb_run_wait(gsb_run* run, gsb_result* result, gsb_error** error);
/* Sends a signal to the command. */
GSB_API void gsb_run_signal(gsb_run* run, int number);
/* SIGKILL to everything of the run. */
GSB_API void gsb_run_kill(gsb_run* run);
/* Ends the run if it has not ended, waits, and frees. */
GSB_API void gsb_run_free(gsb_run* run);

typedef struct gsb_output {
  gsb_result result;
  char* standard_output; /* the caller's; freed with gsb_string_free; also ended by a NUL */
  size_t standard_output_size;
  char* standard_error;
  size_t standard_error_size;
} gsb_output;
/* Runs and captures both streams whole; standard input is /dev/null. 0, or -1 and *error. */
GSB_API int gsb_run_capture(const gsb_policy* policy, const char* const* argv,
                            const gsb_options* options, gsb_output* output, gsb_error** error);

#ifdef __cplusplus
}
#endif
#endif
