#pragma once
// The profiles there are: those that come with bwr, and the user's own in front of them.

#include "sandbox/bwr/profile.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace gos::bwr {

struct ShippedProfile {
  llvm::StringRef name;
  llvm::StringRef commands; // " cargo ", between spaces
  llvm::StringRef text;
};
/// By name; made from profiles/*.toml when the project is built.
llvm::ArrayRef<ShippedProfile> shippedProfiles();

/// A profile that is not usable: its diagnostics as text, or what is wrong with its file.
class ProfileError : public llvm::ErrorInfo<ProfileError> {
public:
  static char ID;
  enum class Kind : uint8_t { Unknown, Refused, Broken };
  ProfileError(Kind kind, std::string text, std::string remedy = {}, std::string diagnostics = {})
      : kind_(kind), text_(std::move(text)), remedy_(std::move(remedy)),
        diagnostics_(std::move(diagnostics)) {}
  Kind kind() const { return kind_; }
  llvm::StringRef text() const { return text_; }
  llvm::StringRef remedy() const { return remedy_; }
  /// Of Broken: the rendered reports.
  llvm::StringRef diagnostics() const { return diagnostics_; }
  void log(llvm::raw_ostream& out) const override;
  std::error_code convertToErrorCode() const override;

private:
  Kind kind_;
  std::string text_, remedy_, diagnostics_;
};

class ProfileSet {
public:
  /// `directory` holds the user's profiles; empty for none. It is never one that a repository
  /// brings (userProfileDirectory).
  explicit ProfileSet(std::string directory) : directory_(std::move(directory)) {}

  struct Listed {
    std::string name;
    std::string summary; // or what is wrong with it
    bool own = false;
    bool broken = false;
  };
  /// Every name once, sorted; a user's profile stands for the shipped one of its name.
  std::vector<Listed> list() const;
  llvm::Expected<Profile> find(llvm::StringRef name) const;
  /// The file of a profile as it is written.
  llvm::Expected<std::string> textOf(llvm::StringRef name) const;
  /// The profile whose `commands` hold the name, the user's first; none if there is none.
  llvm::Expected<std::optional<Profile>> forCommand(llvm::StringRef command) const;

  /// Words only: letters, digits and `.`, `_`, `+`, `-`, not beginning with a dot or dash (T129).
  static bool isName(llvm::StringRef name);

private:
  std::vector<std::string> ownNames() const;
  llvm::Expected<std::string> readOwn(llvm::StringRef name, bool& missing) const;
  llvm::Expected<Profile> parse(llvm::StringRef name, llvm::StringRef text, bool own) const;

  std::string directory_;
};

/// `${XDG_CONFIG_HOME:-~/.config}/bwr/profiles`; empty where that lies at or beneath the working
/// directory, which may be a stranger's.
std::string userProfileDirectory(llvm::ArrayRef<std::string> environment, llvm::StringRef home,
                                 llvm::StringRef workingDirectory);

} // namespace gos::bwr
