#include "c_harness.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "compiled_harness.h"
#include "kernels/csource/csource.h"

namespace baton::testing {

namespace {

/// A folder that goes with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "baton_c_XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

void LoadedSource::Unload::operator()(void* library) const { ::dlclose(library); }

Result<LoadedSource> LoadedSource::make(std::span<const loop::Kernel> kernels, const char* optimisation) {
  const csource::Source source = csource::printSource(kernels);
  const TemporaryFolder folder;
  std::ofstream(folder.file("kernels.c")) << source.text;
  const std::string command =
      fmt::format("{} -std=c11 -pedantic-errors -w {} -fPIC -shared -I{} -o {} {} -lm", BATON_C_COMPILER,
                  optimisation, BATON_INCLUDE, folder.file("kernels.so"), folder.file("kernels.c"));
  if (std::system(command.c_str()) != 0) return Error(ErrorCode::Internal, command + "\n" + source.text);
  LoadedSource loaded;
  loaded.library_.reset(::dlopen(folder.file("kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL));
  if (loaded.library_ == nullptr) return Error(ErrorCode::Internal, ::dlerror());
  for (const std::string& name : source.functions) {
    void* const function = ::dlsym(loaded.library_.get(), name.c_str());
    if (function == nullptr) return Error(ErrorCode::Internal, ::dlerror());
    loaded.functions_.push_back(reinterpret_cast<BatonKernelFunction>(function));
  }
  return loaded;
}

std::string forEachCompiled(const loop::Kernel& kernel, const CompiledVisitor& visit) {
  const Result<LoadedSource> loaded = LoadedSource::make({&kernel, 1}, "-O1");
  if (!loaded.has_value()) return loaded.assume_error().message();
  return visit("as C", loaded.assume_value().function(0));
}

}  // namespace baton::testing
