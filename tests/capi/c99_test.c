/* The interface as a C program sees it: compiled as C99 with all warnings as errors. */
#include <stdio.h>
#include <string.h>

#include "baton/baton.h"
#include "baton/kernel_abi.h"

static int failures = 0;

static void check(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

int main(void) {
  baton_instance_options options = BATON_INSTANCE_OPTIONS_INIT;
  baton_memory_statistics statistics = BATON_MEMORY_STATISTICS_INIT;
  baton_load_options load = BATON_LOAD_OPTIONS_INIT;
  baton_context_options context_options = BATON_CONTEXT_OPTIONS_INIT;
  baton_call_limits limits = BATON_CALL_LIMITS_INIT;
  baton_profile_row row = BATON_PROFILE_ROW_INIT;
  baton_file_source files = BATON_FILE_SOURCE_INIT;
  baton_frame frame = BATON_FRAME_INIT;
  baton_instance* instance = NULL;
  baton_executable* executable = NULL;
  baton_value* value = NULL;
  baton_status* status;
  char* text = NULL;
  size_t length = 0;

  check(load.struct_size == sizeof load && context_options.struct_size == sizeof context_options,
        "struct sizes");
  check(limits.struct_size == sizeof limits && row.struct_size == sizeof row, "struct sizes");
  check(files.struct_size == sizeof files && frame.struct_size == sizeof frame, "struct sizes");
  check(strcmp(baton_version(), "0.1.0") == 0, "the version");
  check(baton_status_code(NULL) == BATON_OK && baton_status_message(NULL)[0] == '\0', "NULL is success");

  options.thread_count = 1;
  status = baton_instance_create(&options, &instance);
  check(status == NULL && instance != NULL, "an instance");
  if (status) return 1;
  baton_instance_memory_statistics(instance, &statistics);
  check(statistics.in_use_bytes <= statistics.reserved_bytes, "memory in use is reserved");

  status = baton_value_parse(instance, NULL, "2x2xf32=1 2 3 4", 15, NULL, &value);
  check(status == NULL, "a value from text");
  check(baton_value_kind(value) == BATON_TENSOR && baton_value_rank(value) == 2, "a tensor of rank 2");
  check(((const float*)baton_value_data(value))[3] == 4.0f, "its last element");
  status = baton_value_format(value, 0, &text, &length);
  check(status == NULL && length == strlen(text), "the text of a value");
  baton_string_release(text);
  baton_value_release(value);

  status = baton_executable_load_memory(instance, "nonsense", 8, NULL, &executable);
  check(baton_status_code(status) == BATON_MALFORMED, "bytes that are no executable");
  check(strlen(baton_status_description(status)) > 0, "a description");
  baton_status_release(status);

  baton_instance_release(instance);
  baton_instance_release(NULL);
  return failures == 0 ? 0 : 1;
}
