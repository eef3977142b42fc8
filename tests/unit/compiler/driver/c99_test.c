/* compiler.h is C99. */
#include "baton/compiler.h"

int batonCompilerHeaderIsC99(void);

int batonCompilerHeaderIsC99(void) {
  baton_compile_options options = BATON_COMPILE_OPTIONS_INIT;
  return (int)options.level;
}
