// Programs as text in files of the tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace baton::bytecode {

inline std::string readText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Files with the extension, in order of their paths.
inline std::vector<std::filesystem::path> filesUnder(const std::filesystem::path& directory,
                                                     const std::string& extension) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline std::string withoutCommentLines(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("//")) result += line + "\n";
  return result;
}

}  // namespace baton::bytecode
