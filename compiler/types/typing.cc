#include "compiler/types/typing.h"

#include "compiler/types/dims.h"
#include "compiler/types/match_check.h"
#include "compiler/types/specialise.h"
#include "compiler/types/structure.h"

namespace baton::types {

void inferTypes(ir::Module& module, frontend::Diagnostics& diagnostics) {
  Structure structure(module, diagnostics);
  structure.infer();
  if (diagnostics.hasErrors()) return;
  checkMatches(module, structure, diagnostics);
  if (diagnostics.hasErrors()) return;
  specialise(module, structure, diagnostics);
  if (diagnostics.hasErrors()) return;
  ModuleDims(module, diagnostics).infer();
}

}  // namespace baton::types
