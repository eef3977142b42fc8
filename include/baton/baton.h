/* The runtime's interface: load an executable, call its functions. C99.
 *
 * Conventions
 *   Every function that can fail returns a baton_status*: NULL is success, anything else is
 *   the caller's to release. `create`, `copy`, `load` and out-parameters give ownership; a
 *   function that returns a plain pointer lends it for as long as its argument lives.
 *   Releasing NULL does nothing. Option structures begin with `struct_size` and are set up
 *   with their _INIT macro; a NULL pointer to options means the defaults. Enumerations are
 *   append-only. Text is UTF-8 and, where it is returned, zero-terminated.
 *   Nothing aborts, prints, throws, or keeps a "last error".
 *
 * Threads
 *   Instances, executables, functions, types, values and statuses may be used by any number
 *   of threads at once. A context and its calls belong to one thread at a time;
 *   baton_call_cancel and baton_call_suspend may be called from any thread.
 */
#ifndef BATON_BATON_H
#define BATON_BATON_H

#include <stddef.h>
#include <stdint.h>

#include "baton/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BATON_API __attribute__((visibility("default")))
#else
#define BATON_API
#endif

#define BATON_VERSION_MAJOR 0
#define BATON_VERSION_MINOR 1
#define BATON_VERSION_PATCH 0

/** Version of the library that is running, "0.1.0". */
BATON_API const char* baton_version(void);

typedef struct baton_status baton_status;
typedef struct baton_instance baton_instance;
typedef struct baton_executable baton_executable;
typedef struct baton_function baton_function;
typedef struct baton_type baton_type;
typedef struct baton_value baton_value;
typedef struct baton_context baton_context;
typedef struct baton_call baton_call;

/* ---- Status ------------------------------------------------------------------------- */

typedef enum baton_code {
  BATON_OK = 0,
  BATON_INVALID_ARGUMENT = 1,  /**< something that the function does not accept */
  BATON_IO = 2,                /**< a file could not be opened, read or written */
  BATON_MALFORMED = 3,         /**< bytes or text that do not follow their format */
  BATON_INCOMPATIBLE = 4,      /**< well formed, but for another version, CPU or process */
  BATON_VERIFY_FAILED = 5,     /**< a program that breaks a rule of the verifier */
  BATON_OUT_OF_MEMORY = 6,     /**< the machine, a device or the instance's cap refused memory */
  BATON_LIMIT_REACHED = 7,     /**< a limit of this call: memory, instructions or depth */
  BATON_DEADLINE_EXCEEDED = 8, /**< the deadline of this call has passed */
  BATON_CANCELLED = 9,         /**< somebody cancelled this call */
  BATON_PROGRAM_ERROR = 10,    /**< the program itself failed: a check, a shape, a division */
  BATON_COMPILE_ERROR = 11,    /**< program text that cannot be compiled */
  BATON_UNSUPPORTED = 12,      /**< understood, but not available in this build or on this machine */
  BATON_INTERNAL = 70          /**< a defect of the library */
} baton_code;

/** BATON_OK for NULL. */
BATON_API baton_code baton_status_code(const baton_status* status);
/** Lower-case name of a code: "program error". */
BATON_API const char* baton_code_name(baton_code code);
/** What was found and what was expected; "" for NULL. */
BATON_API const char* baton_status_message(const baton_status* status);
/** The code, the message and the frames, one a line: what a person wants to read. */
BATON_API const char* baton_status_description(const baton_status* status);
/** Structured details of some errors, by key; NULL when the status has no such detail. A failed
 * check of an input has "argument", "dimension", "symbol", "found", "expected", "bound_by". */
BATON_API const char* baton_status_detail(const baton_status* status, const char* key);

/** A frame of the program that was running. */
typedef struct baton_frame {
  size_t struct_size;
  const char* function;
  uint32_t pc;      /**< word offset in the function */
  const char* file; /**< "" when the executable has no debug section */
  uint32_t line;
  uint32_t column;
} baton_frame;
#define BATON_FRAME_INIT {sizeof(baton_frame), NULL, 0, NULL, 0, 0}
BATON_API size_t baton_status_frame_count(const baton_status* status);
/** Frames are numbered from the innermost. */
BATON_API void baton_status_frame(const baton_status* status, size_t index, baton_frame* frame);
BATON_API void baton_status_release(baton_status* status);

/** Text that a function allocated for the caller (baton_value_format and others). */
BATON_API void baton_string_release(char* text);

/* ---- Instance ----------------------------------------------------------------------- */

typedef enum baton_log_level {
  BATON_LOG_TRACE = 0,
  BATON_LOG_DEBUG = 1,
  BATON_LOG_INFO = 2,
  BATON_LOG_WARNING = 3,
  BATON_LOG_ERROR = 4,
  BATON_LOG_LIMIT = 0x7fffffff /**< no level; any int may be passed */
} baton_log_level;
/** Called from any thread, and must not call back into the library. */
typedef void (*baton_log_sink)(void* user, baton_log_level level, const char* message);

typedef struct baton_instance_options {
  size_t struct_size;
  uint32_t thread_count;      /**< threads that work for one kernel, the caller's included; 0: one per core */
  uint32_t spin_microseconds; /**< how long a worker spins after a parallel region before it sleeps */
  uint64_t memory_limit_bytes; /**< of all memory that the instance reserves; 0: none */
  const char* allocator;       /**< "pool" (NULL too) or "system" */
  baton_log_sink log_sink;
  void* log_user;
  baton_log_level log_level; /**< the least severe level that reaches the sink */
  uint64_t
      fail_allocation; /**< for tests: refuse the n-th allocation from the system, counted from 1; 0: none */
} baton_instance_options;
#define BATON_INSTANCE_OPTIONS_INIT \
  {sizeof(baton_instance_options), 0, 200, 0, NULL, NULL, NULL, BATON_LOG_WARNING, 0}

typedef struct baton_memory_statistics {
  size_t struct_size;
  uint64_t in_use_bytes;   /**< handed out and not yet given back */
  uint64_t reserved_bytes; /**< taken from the layer below */
  uint64_t peak_in_use_bytes;
  uint64_t peak_reserved_bytes;
  uint64_t allocation_count;
  uint64_t release_count;
  uint64_t system_allocation_count; /**< requests that reached the system */
  uint64_t cache_hit_count;         /**< requests served from memory already reserved */
} baton_memory_statistics;
#define BATON_MEMORY_STATISTICS_INIT {sizeof(baton_memory_statistics), 0, 0, 0, 0, 0, 0, 0, 0}

BATON_API baton_status* baton_instance_create(const baton_instance_options* options, baton_instance** out);
BATON_API void baton_instance_retain(baton_instance* instance);
BATON_API void baton_instance_release(baton_instance* instance);
BATON_API void baton_instance_memory_statistics(const baton_instance* instance, baton_memory_statistics* out);
/** Gives unused memory back to the system. */
BATON_API void baton_instance_trim(baton_instance* instance);

/* ---- Executable --------------------------------------------------------------------- */

/** A .vmparams, .npz, .npy or .safetensors file with the tensors of one scope: external parameters
 * are named "scope::key". A .vmparams file is mapped, from the others the tensors are copied. */
typedef struct baton_parameter_file {
  const char* scope;
  const char* path;
} baton_parameter_file;

typedef struct baton_load_options {
  size_t struct_size;
  int32_t native_code;      /**< 0: machine code in the file is not used; its loop IR is interpreted */
  const char* cpu_level;    /**< use the image of this level instead of the best one; NULL: the best */
  int32_t copy;             /**< 1: read the file into memory instead of mapping it */
  int32_t verify_constants; /**< 1: check the bytes of constants too */
  const baton_parameter_file* parameter_files; /**< where external parameters come from */
  size_t parameter_file_count;
} baton_load_options;
#define BATON_LOAD_OPTIONS_INIT {sizeof(baton_load_options), 1, NULL, 0, 0, NULL, 0}

/** Reads `size` bytes at `offset` into `buffer`; returns 0, or anything else on failure. */
typedef int32_t (*baton_read_callback)(void* user, uint64_t offset, void* buffer, size_t size);

BATON_API baton_status* baton_executable_load_file(baton_instance* instance, const char* path,
                                                   const baton_load_options* options, baton_executable** out);
/** Copies what it needs: the bytes may go when the call returns. */
BATON_API baton_status* baton_executable_load_memory(baton_instance* instance, const void* data, size_t size,
                                                     const baton_load_options* options,
                                                     baton_executable** out);
/** The descriptor stays the caller's and may be closed when the call returns. */
BATON_API baton_status* baton_executable_load_descriptor(baton_instance* instance, int descriptor,
                                                         const baton_load_options* options,
                                                         baton_executable** out);
BATON_API baton_status* baton_executable_load_callback(baton_instance* instance, baton_read_callback read,
                                                       void* user, uint64_t size,
                                                       const baton_load_options* options,
                                                       baton_executable** out);
BATON_API void baton_executable_retain(baton_executable* executable);
BATON_API void baton_executable_release(baton_executable* executable);
BATON_API const char* baton_executable_name(const baton_executable* executable);
/** The CPU level whose native image is in use; "" when kernels are interpreted or there are none. */
BATON_API const char* baton_executable_cpu_level(const baton_executable* executable);

/* ---- Functions and types ------------------------------------------------------------ */

/** Entry points: the functions that can be called from outside. */
BATON_API size_t baton_executable_function_count(const baton_executable* executable);
/** NULL when out of range. Functions live as long as their executable. */
BATON_API const baton_function* baton_executable_function(const baton_executable* executable, size_t index);
/** NULL when there is none of this name ("main", without "@"). */
BATON_API const baton_function* baton_executable_find_function(const baton_executable* executable,
                                                               const char* name);
BATON_API const char* baton_function_name(const baton_function* function);
BATON_API const char* baton_function_documentation(const baton_function* function);
/** As in program text: "def @main(%x: Tensor[(n, 4), float32]) -> Tensor[(n,), float32] where n <= 8". */
BATON_API const char* baton_function_signature(const baton_function* function);
BATON_API size_t baton_function_parameter_count(const baton_function* function);
BATON_API const char* baton_function_parameter_name(const baton_function* function, size_t index);
BATON_API const baton_type* baton_function_parameter_type(const baton_function* function, size_t index);
/** Index of a parameter, or SIZE_MAX. */
BATON_API size_t baton_function_find_parameter(const baton_function* function, const char* name);
BATON_API const baton_type* baton_function_result_type(const baton_function* function);
/** Named extents of the signature ("?" for one without a name). */
BATON_API size_t baton_function_symbol_count(const baton_function* function);
BATON_API const char* baton_function_symbol_name(const baton_function* function, size_t index);
BATON_API size_t baton_function_constraint_count(const baton_function* function);
BATON_API const char* baton_function_constraint(const baton_function* function, size_t index);

typedef enum baton_known { BATON_UNKNOWN = 0, BATON_EXACT = 1, BATON_BOUND = 2 } baton_known;
/** Peak memory of one invocation for these values of the symbols, in their order. `reason` (may
 * be NULL) receives why it is unknown. */
BATON_API baton_status* baton_function_peak_memory(const baton_function* function, const int64_t* symbols,
                                                   size_t symbol_count, baton_known* known, uint64_t* bytes,
                                                   const char** reason);

/** Element types and kinds of scalars. */
typedef enum baton_dtype {
  BATON_BOOL = 0,
  BATON_I8 = 1,
  BATON_I16 = 2,
  BATON_I32 = 3,
  BATON_I64 = 4,
  BATON_U8 = 5,
  BATON_U16 = 6,
  BATON_U32 = 7,
  BATON_U64 = 8,
  BATON_F16 = 9,
  BATON_BF16 = 10,
  BATON_F32 = 11,
  BATON_F64 = 12,
  BATON_DTYPE_LIMIT = 0x7fffffff /**< no dtype: any int may be passed, and is refused when it is none */
} baton_dtype;
/** Bytes of one element; 0 for a number that is no dtype. */
BATON_API size_t baton_dtype_size(baton_dtype dtype);
/** "float32"; NULL for a number that is no dtype. */
BATON_API const char* baton_dtype_name(baton_dtype dtype);

typedef enum baton_kind {
  BATON_TENSOR = 0,
  BATON_SCALAR = 1, /**< a tensor of rank 0 in program text */
  BATON_TUPLE = 2,
  BATON_ADT = 3,
  BATON_CLOSURE = 4,
  BATON_REF = 5, /**< never leaves its context */
  BATON_ARRAY = 6
} baton_kind;

/* Types are lent by functions and by other types; they live as long as the executable. */
BATON_API baton_kind baton_type_kind(const baton_type* type);
/** As in program text: "Tensor[(n, 4), float32]", "List[float32]". */
BATON_API const char* baton_type_text(const baton_type* type);
BATON_API int baton_type_equal(const baton_type* a, const baton_type* b);
/** Tensors and scalars; 0 otherwise. */
BATON_API baton_dtype baton_type_dtype(const baton_type* type);
BATON_API size_t baton_type_rank(const baton_type* type);
/** The extent, or -1 where it is not one number. */
BATON_API int64_t baton_type_extent(const baton_type* type, size_t axis);
/** The extent as text: "512", "n", "4*m + 1", "?". */
BATON_API const char* baton_type_extent_text(const baton_type* type, size_t axis);
/** Tuples have one constructor without a name. */
BATON_API size_t baton_type_constructor_count(const baton_type* type);
BATON_API const char* baton_type_constructor_name(const baton_type* type, size_t constructor);
BATON_API size_t baton_type_field_count(const baton_type* type, size_t constructor);
BATON_API const baton_type* baton_type_field(const baton_type* type, size_t constructor, size_t field);
/** The type of an array's elements; NULL for other types. */
BATON_API const baton_type* baton_type_element(const baton_type* type);
/** Whether it is the List that value text writes as [a, b]. */
BATON_API int baton_type_is_list(const baton_type* type);

/* ---- Values ------------------------------------------------------------------------- */

BATON_API void baton_value_retain(baton_value* value);
BATON_API void baton_value_release(baton_value* value);

/** A tensor over the memory of `tensor`, which the value then owns; nothing is copied unless the
 * memory is strided. On failure `tensor` stays the caller's. A rank-0 tensor becomes a scalar. */
BATON_API baton_status* baton_value_from_dlpack(baton_instance* instance, DLManagedTensorVersioned* tensor,
                                                baton_value** out);
/** The memory of a tensor or scalar, which lives until the deleter of the result is called. It is
 * read-only (and flagged so): values are immutable. */
BATON_API baton_status* baton_value_to_dlpack(baton_value* value, DLManagedTensorVersioned** out);
/** Copies size_bytes of dense row-major data; they must be what dtype and extents say. */
BATON_API baton_status* baton_value_create_tensor(baton_instance* instance, baton_dtype dtype, size_t rank,
                                                  const int64_t* extents, const void* data, size_t size_bytes,
                                                  baton_value** out);
/** `data` points to one element of the dtype. */
BATON_API baton_status* baton_value_create_scalar(baton_instance* instance, baton_dtype dtype,
                                                  const void* data, baton_value** out);
/** A tuple or a value of a data type. The fields are retained, as declared. */
BATON_API baton_status* baton_value_create_adt(baton_instance* instance, const baton_type* type,
                                               size_t constructor, baton_value* const* fields,
                                               size_t field_count, baton_value** out);
/** A value of a type for which baton_type_is_list holds. */
BATON_API baton_status* baton_value_create_list(baton_instance* instance, const baton_type* type,
                                                baton_value* const* items, size_t item_count,
                                                baton_value** out);

/** An array. The elements are retained. */
BATON_API baton_status* baton_value_create_array(baton_instance* instance, const baton_type* type,
                                                 baton_value* const* elements, size_t length,
                                                 baton_value** out);

BATON_API baton_kind baton_value_kind(const baton_value* value);
/** NULL for tensors and scalars, which need no type to be understood. */
BATON_API const baton_type* baton_value_type(const baton_value* value);
/* Tensors and scalars (a scalar has rank 0); 0 or NULL otherwise. */
BATON_API baton_dtype baton_value_dtype(const baton_value* value);
BATON_API size_t baton_value_rank(const baton_value* value);
BATON_API const int64_t* baton_value_extents(const baton_value* value);
BATON_API size_t baton_value_size_bytes(const baton_value* value);
/** Dense row-major elements. */
BATON_API const void* baton_value_data(const baton_value* value);
/* Tuples and values of data types. */
BATON_API size_t baton_value_constructor(const baton_value* value);
BATON_API const char* baton_value_constructor_name(const baton_value* value);
BATON_API size_t baton_value_field_count(const baton_value* value);
/** A new value that the caller owns; it shares the memory of `value`. */
BATON_API baton_status* baton_value_field(const baton_value* value, size_t field, baton_value** out);
/* Arrays; 0 otherwise. */
BATON_API size_t baton_value_length(const baton_value* value);
/** A new value that the caller owns; it shares the memory of `value`. */
BATON_API baton_status* baton_value_element(const baton_value* value, size_t index, baton_value** out);
/** Whether two values have the same structure, dtypes, extents and bits (all NaNs are equal). */
BATON_API int baton_value_equal(const baton_value* a, const baton_value* b);

/** Gives `@name` of value text its bytes. */
typedef struct baton_file_source {
  size_t struct_size;
  void* user;
  /** Returns 0 and the bytes, or anything else when there are none. */
  int32_t (*open)(void* user, const char* name, const void** data, size_t* size);
  /** Called once for every successful open. */
  void (*close)(void* user, const void* data, size_t size);
} baton_file_source;
#define BATON_FILE_SOURCE_INIT {sizeof(baton_file_source), NULL, NULL, NULL}

/** Reads a value: "2x3xf32=1 2 3 4 5 6", "i64=7", "(a, b)", "Cons(a, Nil)", "[a, b]", "@x.npy".
 * `type` says what it must be; NULL accepts tensors and scalars. `files` may be NULL. */
BATON_API baton_status* baton_value_parse(baton_instance* instance, const baton_type* type, const char* text,
                                          size_t text_length, const baton_file_source* files,
                                          baton_value** out);
/** The same text back; elements beyond element_limit (0: none) of a tensor become "...". */
BATON_API baton_status* baton_value_format(const baton_value* value, size_t element_limit, char** out,
                                           size_t* out_length);

/* ---- Contexts ----------------------------------------------------------------------- */

typedef struct baton_context_options {
  size_t struct_size;
  int32_t profile;         /**< 1: collect the rows of baton_context_profile */
  int32_t switch_dispatch; /**< 1: the portable dispatch loop, for comparison */
} baton_context_options;
#define BATON_CONTEXT_OPTIONS_INIT {sizeof(baton_context_options), 0, 0}

/** A heap and what calls share. Creating one takes microseconds. */
BATON_API baton_status* baton_context_create(baton_executable* executable,
                                             const baton_context_options* options, baton_context** out);
/** Its calls must have been released. Values that came out of it live on. */
BATON_API void baton_context_release(baton_context* context);
BATON_API void baton_context_memory_statistics(const baton_context* context, baton_memory_statistics* out);
BATON_API void baton_context_trim(baton_context* context);

typedef enum baton_profile_kind { BATON_PROFILE_FUNCTION = 0, BATON_PROFILE_KERNEL = 1 } baton_profile_kind;
typedef struct baton_profile_row {
  size_t struct_size;
  baton_profile_kind kind;
  const char* name;
  uint64_t count;             /**< calls */
  uint64_t nanoseconds;       /**< in itself: a function's kernels and callees have their own rows */
  uint64_t instruction_count; /**< functions */
} baton_profile_row;
#define BATON_PROFILE_ROW_INIT {sizeof(baton_profile_row), BATON_PROFILE_FUNCTION, NULL, 0, 0, 0}
/** Rows of functions and kernels that ran, longest first. */
BATON_API size_t baton_context_profile_count(baton_context* context);
/** 1, or 0 when out of range. Names live as long as the executable. */
BATON_API int baton_context_profile_row(baton_context* context, size_t index, baton_profile_row* out);
BATON_API void baton_context_profile_reset(baton_context* context);

/* ---- Calls -------------------------------------------------------------------------- */

typedef enum baton_call_state {
  BATON_CALL_READY = 0,     /**< inputs are being set */
  BATON_CALL_SUSPENDED = 1, /**< started; resume goes on */
  BATON_CALL_FINISHED = 2,  /**< the result is there */
  BATON_CALL_FAILED = 3
} baton_call_state;

/** One invocation. Its results are read, then it may be reset and used again. */
BATON_API baton_status* baton_call_create(baton_context* context, const baton_function* function,
                                          baton_call** out);
BATON_API void baton_call_release(baton_call* call);
/** Back to BATON_CALL_READY: ends what runs, forgets inputs and results, keeps limits. */
BATON_API void baton_call_reset(baton_call* call);
/** Retains the value and checks what can be checked without the other inputs. */
BATON_API baton_status* baton_call_set_input(baton_call* call, size_t index, baton_value* value);
BATON_API baton_status* baton_call_set_input_by_name(baton_call* call, const char* name, baton_value* value);
/** Takes the value over, so that the program may update it in place if nobody else holds it. */
BATON_API baton_status* baton_call_donate_input(baton_call* call, size_t index, baton_value* value);

typedef struct baton_call_limits {
  size_t struct_size;
  uint64_t memory_bytes;        /**< that the call may add to what its context holds; 0: none */
  uint64_t instruction_count;   /**< checked at calls and backward jumps; 0: none */
  uint64_t call_depth;          /**< frames; 0: none */
  uint64_t stack_bytes;         /**< of frames; 0: 1 GiB */
  uint64_t timeout_nanoseconds; /**< of running time, suspensions not counted; 0: none */
} baton_call_limits;
#define BATON_CALL_LIMITS_INIT {sizeof(baton_call_limits), 0, 0, 0, 0, 0}
BATON_API baton_status* baton_call_set_limits(baton_call* call, const baton_call_limits* limits);

/** Runs to the end: start, and resume for as long as it is needed. */
BATON_API baton_status* baton_call_run(baton_call* call);
/** Runs at most this many instructions; starts the call if it is ready. */
BATON_API baton_status* baton_call_step(baton_call* call, uint64_t instruction_count,
                                        baton_call_state* state);
/** Runs until the call has ended or baton_call_suspend takes effect; starts it if it is ready. */
BATON_API baton_status* baton_call_resume(baton_call* call, baton_call_state* state);
/** Any thread: the call stops at the next check and can be resumed. */
BATON_API void baton_call_suspend(baton_call* call);
/** Any thread: the call ends with BATON_CANCELLED at the next check. */
BATON_API void baton_call_cancel(baton_call* call);
BATON_API baton_call_state baton_call_get_state(const baton_call* call);
/** The result, which the caller owns; an error unless the call has finished. */
BATON_API baton_status* baton_call_result(baton_call* call, baton_value** out);
/** Instructions executed so far. */
BATON_API uint64_t baton_call_instruction_count(const baton_call* call);
/** Frames of a suspended call; looks at the stack. */
BATON_API size_t baton_call_frame_count(baton_call* call);
/** 1, or 0 when out of range. Frames are those of the last count, numbered from the innermost; they
 * live until the next. */
BATON_API int baton_call_frame(const baton_call* call, size_t index, baton_frame* frame);

#ifdef __cplusplus
}
#endif
#endif
