// What tests of relations begin with: a call of known types (`TypedCall`), and short names.
#pragma once

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/compiler/ops/typed_call.h"

using namespace baton;
using namespace baton::ops;
using namespace baton::ops::test;
using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;
using Dims = std::vector<DimExpr>;
