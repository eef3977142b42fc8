#include "kernels/codegen/link.h"

#include <fmt/format.h>
#include <lld/Common/Driver.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <map>
#include <mutex>

LLD_HAS_DRIVER(elf)

namespace baton::codegen {

namespace {

using ElfFile = llvm::object::ELF64LEObjectFile;
namespace elf = llvm::ELF;

Error internal(const std::string& message) {
  return Error(ErrorCode::Internal, "linking kernels: " + message);
}
std::string textOf(llvm::Error error) { return llvm::toString(std::move(error)); }

/// Files of one link step, removed at its end whatever happens.
class WorkFolder {
 public:
  static Result<WorkFolder> create() {
    llvm::SmallString<128> path;
    if (const std::error_code code = llvm::sys::fs::createUniqueDirectory("baton-link", path))
      return Error(ErrorCode::Io, fmt::format("cannot create a folder for the linker: {}", code.message()));
    return WorkFolder(std::string(path));
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    if (!path_.empty()) llvm::sys::fs::remove_directories(path_, true);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

  Result<void> write(const std::string& name, llvm::StringRef contents) const {
    std::error_code code;
    llvm::raw_fd_ostream stream(file(name), code);
    if (!code) {
      stream << contents;
      stream.close();
      code = stream.error();
      stream.clear_error();
    }
    if (code) return Error(ErrorCode::Io, fmt::format("cannot write {}: {}", file(name), code.message()));
    return success();
  }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

constexpr const char* kScript = R"(
SECTIONS {
  . = 0;
  .image : ALIGN(64) { *(.text .text.*) . = ALIGN(64); *(.rodata .rodata.*) }
  /DISCARD/ : { *(.comment) *(.note .note.*) *(.eh_frame) *(.llvm_addrsig) }
}
)";

/// Whether a relocation only needs the distance from the program counter, or from its page: images are mapped
/// at page boundaries.
bool isRelative(const ElfFile& object, uint64_t type) {
  if (object.getArch() == llvm::Triple::x86_64)
    return type == elf::R_X86_64_PC32 || type == elf::R_X86_64_PLT32 || type == elf::R_X86_64_PC64;
  switch (type) {
    case elf::R_AARCH64_PREL32:
    case elf::R_AARCH64_PREL64:
    case elf::R_AARCH64_CALL26:
    case elf::R_AARCH64_JUMP26:
    case elf::R_AARCH64_CONDBR19:
    case elf::R_AARCH64_TSTBR14:
    case elf::R_AARCH64_ADR_PREL_LO21:
    case elf::R_AARCH64_ADR_PREL_PG_HI21:
    // The place within a page, beside one of the above.
    case elf::R_AARCH64_ADD_ABS_LO12_NC:
    case elf::R_AARCH64_LDST8_ABS_LO12_NC:
    case elf::R_AARCH64_LDST16_ABS_LO12_NC:
    case elf::R_AARCH64_LDST32_ABS_LO12_NC:
    case elf::R_AARCH64_LDST64_ABS_LO12_NC:
    case elf::R_AARCH64_LDST128_ABS_LO12_NC: return true;
    default: return false;
  }
}

/// What the object may refer to, checked where the names are still known.
Result<void> checkObject(const ElfFile& object) {
  for (const llvm::object::SectionRef section : object.sections()) {
    const llvm::object::ELFSectionRef elfSection(section);
    const uint64_t flags = elfSection.getFlags();
    const std::string name = llvm::cantFail(section.getName()).str();
    if ((flags & elf::SHF_ALLOC) != 0 && section.getSize() > 0 &&
        (flags & (elf::SHF_WRITE | elf::SHF_TLS)) != 0)
      return internal(
          fmt::format("section {} of {} bytes is writable or thread-local", name, section.getSize()));
    for (const llvm::object::RelocationRef relocation : section.relocations()) {
      auto target = section.getRelocatedSection();
      if (!target) return internal(textOf(target.takeError()));
      if (*target == object.section_end()) continue;
      if ((llvm::object::ELFSectionRef(**target).getFlags() & elf::SHF_ALLOC) == 0) continue;
      if (llvm::cantFail((*target)->getName()) == ".eh_frame") continue;
      if (isRelative(object, relocation.getType())) continue;
      llvm::SmallString<32> typeName;
      relocation.getTypeName(typeName);
      return internal(fmt::format("relocation {} in {} is not relative to the program counter",
                                  typeName.str().str(), name));
    }
  }
  return success();
}

Result<void> runLinker(const WorkFolder& folder, std::span<const std::string> inputs) {
  const std::string script = folder.file("image.ld");
  const std::string output = folder.file("image.elf");
  std::vector<const char*> arguments = {"ld.lld",
                                        "-static",
                                        "--no-undefined",
                                        "--nostdlib",
                                        "--build-id=none",
                                        "--threads=1",
                                        "-z",
                                        "nognustack",
                                        "--script",
                                        script.c_str(),
                                        "-e",
                                        "0",
                                        "-o",
                                        output.c_str()};
  for (const std::string& input : inputs) arguments.push_back(input.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  static std::mutex mutex;  // in-process lld keeps process-wide state
  const std::lock_guard lock(mutex);
  const lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) return internal(fmt::format("the linker failed: {}", messages));
  return success();
}

Result<LinkedImage> readImage(const ElfFile& linked, std::span<const std::string> symbols) {
  LinkedImage image;
  bool found = false;
  for (const llvm::object::SectionRef section : linked.sections()) {
    if ((llvm::object::ELFSectionRef(section).getFlags() & elf::SHF_ALLOC) == 0 || section.getSize() == 0)
      continue;
    const std::string name = llvm::cantFail(section.getName()).str();
    if (name != ".image" || section.getAddress() != 0)
      return internal(fmt::format("unexpected section {} at {} of {} bytes", name, section.getAddress(),
                                  section.getSize()));
    auto contents = section.getContents();
    if (!contents) return internal(textOf(contents.takeError()));
    const auto* const data = reinterpret_cast<const std::byte*>(contents->data());
    image.bytes.assign(data, data + contents->size());
    found = true;
  }
  if (!found) return internal("the linked file has no image");
  std::map<std::string, uint64_t> addresses;
  for (const llvm::object::SymbolRef symbol : linked.symbols()) {
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    if (!name || !address) return internal("a symbol cannot be read");
    addresses[name->str()] = *address;
  }
  for (const std::string& symbol : symbols) {
    const auto at = addresses.find(symbol);
    if (at == addresses.end() || at->second >= image.bytes.size())
      return internal(fmt::format("symbol {} is not in the image", symbol));
    image.symbolOffsets.push_back(at->second);
  }
  return image;
}

}  // namespace

Result<LinkedImage> linkImage(std::span<const std::span<const char>> objects,
                              std::span<const std::string> symbols) {
  BATON_TRY_ASSIGN(const WorkFolder folder, WorkFolder::create());
  std::vector<std::string> inputs;
  for (const std::span<const char> object : objects) {
    const llvm::StringRef bytes(object.data(), object.size());
    auto parsed = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "kernels.o"));
    if (!parsed) return internal(textOf(parsed.takeError()));
    BATON_TRY(checkObject(llvm::cast<ElfFile>(**parsed)));
    const std::string name = fmt::format("kernels{}.o", inputs.size());
    BATON_TRY(folder.write(name, bytes));
    inputs.push_back(folder.file(name));
  }
  BATON_TRY(folder.write("image.ld", kScript));
  BATON_TRY(runLinker(folder, inputs));
  auto buffer = llvm::MemoryBuffer::getFile(folder.file("image.elf"), false, false);
  if (!buffer)
    return Error(ErrorCode::Io, fmt::format("cannot read the linked image: {}", buffer.getError().message()));
  auto linked = llvm::object::ObjectFile::createELFObjectFile((*buffer)->getMemBufferRef());
  if (!linked) return internal(textOf(linked.takeError()));
  return readImage(llvm::cast<ElfFile>(**linked), symbols);
}

}  // namespace baton::codegen
