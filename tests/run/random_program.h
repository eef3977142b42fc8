// Programs made at random: well typed, ending, with everything the language has.
#pragma once

#include <cstdint>
#include <string>

namespace baton::run {

/// The text of a program with runs in its comments that ask for agreement only. The same
/// seed gives the same program.
std::string randomProgram(uint64_t seed);

}  // namespace baton::run
