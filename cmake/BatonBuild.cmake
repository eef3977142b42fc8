# How every target of the project is compiled, and the one function per kind of target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # The base directory lets two checkouts share one cache.
  set(BATON_CCACHE ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${BATON_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${BATON_CCACHE})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# No implicit contraction anywhere: the numeric contract (docs/semantics.md) binds
# every float operation of ours, and a fused multiply-add is always written out.
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # Boost and libstdc++ 12 use what C++20 deprecates; `&` of two bools is meant.
  add_compile_options(-Wno-deprecated-declarations -Wno-bitwise-instead-of-logical)
endif()
# Shared libraries name all that they need, except what a sanitizer's runtime has: it is in the program.
set(BATON_NO_UNDEFINED -Wl,--no-undefined)
if(BATON_SANITIZE)
  set(BATON_NO_UNDEFINED "")
  add_compile_options(-fsanitize=${BATON_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BATON_SANITIZE})
  if(BATON_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
    if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
      # Native kernels do not carry the types that it looks for in front of functions; looking at
      # classes needs a runtime that programs in C do not have.
      add_compile_options(-fno-sanitize=function,vptr)
    endif()
  endif()
endif()
if(BATON_FUZZ)
  # The libraries too: libFuzzer sees only what is instrumented.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(BATON_INTERNAL_CHECKS)
  add_compile_definitions(BATON_INTERNAL_CHECKS=1)
endif()

# baton_library(NAME SOURCES a.cc ... [DEPS lib ...] [PRIVATE_DEPS lib ...])
# A room of the house: a static library whose include path is the source root.
function(baton_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# What runs programs is optimised in every build: tests turn loops millions of times.
function(baton_optimise target)
  if(CMAKE_BUILD_TYPE STREQUAL Debug)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# baton_command(NAME SOURCES main.cc ... DEPS lib ...)
function(baton_command name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
endfunction()

# What the thread-sanitizer run builds: tests labelled "concurrency".
add_custom_target(concurrency-tests)

# baton_unit_test(NAME SOURCES a_test.cc ... DEPS lib ... [LABEL l])
# One Catch2 executable, each of its cases a ctest entry "NAME: case" with that label
# ("unit" unless given; "concurrency" for what the thread sanitizer must see).
function(baton_unit_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} Catch2::Catch2WithMain)
  # What is tested is optimised; the checks are compiled as fast as can be, and not checked themselves.
  if(BATON_SANITIZE)
    # Sweeps take larger steps: what is looked for is in every one of them.
    target_compile_definitions(${name} PRIVATE BATON_COARSE_SWEEPS=1)
    target_compile_options(${name} PRIVATE -O0)
  else()
    target_compile_options(${name} PRIVATE -O1)
  endif()
  catch_discover_tests(${name} TEST_PREFIX "${name}: " PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300)
  if(ARG_LABEL STREQUAL "concurrency")
    add_dependencies(concurrency-tests ${name})
  endif()
endfunction()
