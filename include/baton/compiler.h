/* The compiler as a library: program text in, the bytes of a .vmexe and diagnostics out.
 * C99. Nothing here aborts, throws, prints or opens a file. A compilation may be used by
 * one thread at a time; separate compilations are independent. */
#ifndef BATON_COMPILER_H
#define BATON_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BATON_COMPILER_API __attribute__((visibility("default")))
#else
#define BATON_COMPILER_API
#endif

/** What baton_compile returns. Values are stable. */
typedef enum baton_compile_status {
  BATON_COMPILE_OK = 0,
  BATON_COMPILE_ERRORS = 1,           /**< the program has errors: see the diagnostics */
  BATON_COMPILE_INVALID_ARGUMENT = 2, /**< options or arguments that make no sense */
  BATON_COMPILE_BAD_INPUT = 3,        /**< a weights file that cannot be read, or weights that
                                           do not fit the program: see the diagnostics */
  BATON_COMPILE_UNSUPPORTED = 4,      /**< understood, but not available in this build */
  BATON_COMPILE_OUT_OF_MEMORY = 5,
  BATON_COMPILE_INTERNAL = 70, /**< a defect of the compiler */
} baton_compile_status;

/** What comes out. Values are stable. */
typedef enum baton_compile_emit {
  BATON_COMPILE_EMIT_VMEXE = 0,
  BATON_COMPILE_EMIT_IR = 1,      /**< as parsed */
  BATON_COMPILE_EMIT_TYPES = 2,   /**< typed */
  BATON_COMPILE_EMIT_LOWERED = 3, /**< after all passes */
  BATON_COMPILE_EMIT_LIR = 4,
  BATON_COMPILE_EMIT_LOOP = 5,
  BATON_COMPILE_EMIT_LLVM = 6,
  BATON_COMPILE_EMIT_VMASM = 7,
  BATON_COMPILE_EMIT_ASM = 8,           /**< of the kernels */
  BATON_COMPILE_EMIT_C = 9,             /**< C source of the kernels */
  BATON_COMPILE_EMIT_SCHEDULE = 10,     /**< kernels as they are lowered, and schedules of their loops */
  BATON_COMPILE_EMIT_LIMIT = 0x7fffffff /**< no form: any int may be passed, and is refused when it is none */
} baton_compile_emit;

enum {
  BATON_COMPILE_PORTABLE = 1,       /**< store the kernels as loop IR, too */
  BATON_COMPILE_NO_NATIVE_CODE = 2, /**< only as loop IR; needs PORTABLE */
  BATON_COMPILE_VERIFY_EACH = 4,    /**< check the IR after every pass */
  BATON_COMPILE_TIME_PASSES = 8,    /**< times in the log */
  BATON_COMPILE_PRINT_CHANGED = 16, /**< in the log, the IR after every pass that changed it */
  BATON_COMPILE_COUNT_PASSES = 32,  /**< in the log, what the passes did */
};

/** Program text. Diagnostics use the name. */
typedef struct baton_compile_source {
  const char* name;
  const char* text;
  size_t text_size;
} baton_compile_source;

/** The bytes of a .npz, .npy, .safetensors or .vmparams file with values for `param @w`. */
typedef struct baton_compile_params {
  const char* name;
  const void* data;
  size_t size;
} baton_compile_params;

/** A named extent of an entry point that this executable fixes. */
typedef struct baton_compile_dim {
  const char* name;
  int64_t extent;
} baton_compile_dim;

/** Everything is borrowed for the duration of the call. Start from
 * BATON_COMPILE_OPTIONS_INIT. */
typedef struct baton_compile_options {
  size_t struct_size;
  int32_t level;  /**< optimisation level, 0 to 3 */
  uint32_t flags; /**< BATON_COMPILE_PORTABLE and the like */
  baton_compile_emit emit;
  const char* module_name;       /**< NULL: the name of the source */
  const char* const* cpu_levels; /**< "native", "x86-64-v3", "x86-64-v4", "armv8-a"; none: native */
  size_t cpu_level_count;
  const baton_compile_params* params;
  size_t param_count;
  const char* const* entries; /**< functions to export besides @main; a program with neither exports all of
                                  its functions without type parameters */
  size_t entry_count;
  const baton_compile_dim* dims;
  size_t dim_count;
  const char* const* disabled_passes;
  size_t disabled_pass_count;
  const char* const* print_before; /**< passes whose input goes to the log; "all" for every one */
  size_t print_before_count;
  const char* const* print_after;
  size_t print_after_count;
  const char* passes; /**< text of a pipeline (docs/passes.md); NULL: that of the level */
} baton_compile_options;

#define BATON_COMPILE_OPTIONS_INIT \
  {sizeof(baton_compile_options),  \
   3,                              \
   0,                              \
   BATON_COMPILE_EMIT_VMEXE,       \
   NULL,                           \
   NULL,                           \
   0,                              \
   NULL,                           \
   0,                              \
   NULL,                           \
   0,                              \
   NULL,                           \
   0,                              \
   NULL,                           \
   0,                              \
   NULL,                           \
   0,                              \
   NULL,                           \
   0,                              \
   NULL}

typedef enum baton_compile_severity {
  BATON_COMPILE_SEVERITY_ERROR = 0,
  BATON_COMPILE_SEVERITY_WARNING = 1,
  BATON_COMPILE_SEVERITY_NOTE = 2,
} baton_compile_severity;

/** One message; the strings live as long as the compilation. */
typedef struct baton_compile_diagnostic {
  size_t struct_size; /**< set by the caller */
  baton_compile_severity severity;
  const char* file; /**< "" when it belongs to no place */
  uint32_t line;    /**< from 1; 0 when it belongs to no place */
  uint32_t column;  /**< from 1 */
  const char* message;
  const char* detail;   /**< types and the like, may be "" */
  const char* rendered; /**< all of it, with the source line and a caret */
} baton_compile_diagnostic;

/** The outcome of one run of the compiler. */
typedef struct baton_compilation baton_compilation;

/** "0.1.0". */
BATON_COMPILER_API const char* baton_compiler_version(void);

/** Compiles. `*out` is set whatever the status (NULL only when memory ran out) and is the
 * caller's to release. `options` may be NULL. */
BATON_COMPILER_API baton_compile_status baton_compile(const baton_compile_source* source,
                                                      const baton_compile_options* options,
                                                      baton_compilation** out);

/** A pass of the compiler. */
typedef struct baton_compiler_pass {
  size_t struct_size; /**< set by the caller */
  const char* name;
  const char* summary;
  int32_t level; /**< lowest optimisation level that runs it; 0: it always runs */
} baton_compiler_pass;

/** The passes that pipelines are made of, then those over the low-level form. */
BATON_COMPILER_API size_t baton_compiler_pass_count(void);
/** Fills what struct_size covers. INVALID_ARGUMENT when there is no such pass. */
BATON_COMPILER_API baton_compile_status baton_compiler_pass_at(size_t index, baton_compiler_pass* pass);

/** NULL is nothing. */
BATON_COMPILER_API void baton_compilation_release(baton_compilation* compilation);

/** What was asked for, when the status is OK: bytes of the .vmexe, or text (with a zero
 * after its end that is not counted). NULL and 0 otherwise. */
BATON_COMPILER_API const void* baton_compilation_output(const baton_compilation* compilation, size_t* size);

BATON_COMPILER_API size_t baton_compilation_diagnostic_count(const baton_compilation* compilation);
/** Fills what struct_size covers. INVALID_ARGUMENT when there is no such diagnostic. */
BATON_COMPILER_API baton_compile_status baton_compilation_diagnostic(const baton_compilation* compilation,
                                                                     size_t index,
                                                                     baton_compile_diagnostic* diagnostic);

/** Why it failed, when that is no matter of diagnostics; "" otherwise. */
BATON_COMPILER_API const char* baton_compilation_error(const baton_compilation* compilation);
/** Dumps and times that were asked for. */
BATON_COMPILER_API const char* baton_compilation_log(const baton_compilation* compilation);

#ifdef __cplusplus
}
#endif
#endif
