// Collapsing used paths, and the file they are written to.

#include "sandbox/command/learn.h"

#include "tests/unit/sandbox/temp_tree.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace gos::sandbox {
namespace {

std::string text(const std::vector<UsedPath>& paths) {
  std::string all;
  for (const UsedPath& each : paths)
    all += gos::spelling(each.access).str() + " " + each.path + "\n";
  return all;
}

TEST_CASE("a few files stay files, several are their directory, never above the grant") {
  std::vector<UsedPath> used;
  for (const char* name : {"a", "b", "c"})
    used.push_back({std::string("/srv/few/") + name, Access::ReadOnly, "/srv/few"});
  CHECK(text(collapsed(used)) ==
        "read-only /srv/few/a\nread-only /srv/few/b\nread-only /srv/few/c\n");
  used.push_back({"/srv/few/d", Access::ReadOnly, "/srv/few"});
  CHECK(text(collapsed(used)) == "read-only /srv/few\n");
  used.clear();
  for (const char* name : {"/a", "/b", "/c", "/d", "/e"})
    used.push_back({name, Access::ReadOnly, name});
  CHECK(text(collapsed(used)).find("read-only /\n") == std::string::npos);
  CHECK(collapsed(used).size() == 5);
}

TEST_CASE("directories of directories come together up to the grant") {
  std::vector<UsedPath> used;
  for (int outer = 0; outer != 5; ++outer)
    for (int inner = 0; inner != 5; ++inner)
      used.push_back({"/srv/x/" + std::to_string(outer) + "/" + std::to_string(inner),
                      Access::ReadOnly, "/srv/x"});
  CHECK(text(collapsed(used)) == "read-only /srv/x\n");
}

TEST_CASE("read-write does not spread to what was only read") {
  std::vector<UsedPath> used;
  for (const char* name : {"a", "b", "c", "d"})
    used.push_back({std::string("/srv/x/") + name, Access::ReadOnly, "/srv/x"});
  used.push_back({"/srv/x/out", Access::ReadWrite, "/srv/x"});
  CHECK(text(collapsed(used)) == "read-only /srv/x\nread-write /srv/x/out\n");
  // and what a read-write directory covers is not said again
  used = {{"/srv/y", Access::ReadWrite, "/srv/y"}, {"/srv/y/z", Access::ReadOnly, "/srv/y"}};
  CHECK(text(collapsed(used)) == "read-write /srv/y\n");
}

TEST_CASE("a directory that was only asked about does not grant what is beneath it") {
  std::vector<UsedPath> used = {{"/srv/x", Access::ReadOnly, "/srv", true},
                                {"/srv/x-y", Access::ReadOnly, "/srv", false},
                                {"/srv/x/a", Access::ReadOnly, "/srv", false}};
  CHECK(text(collapsed(used)) == "read-only /srv/x-y\nread-only /srv/x/a\n");
  used.pop_back(); // nothing else makes it be there
  CHECK(text(collapsed(used)) == "read-only /srv/x\nread-only /srv/x-y\n");
}

TEST_CASE("a round that upgrades a directory keeps the stronger access") {
  std::vector<UsedPath> used;
  for (const char* name : {"a", "b", "c", "d"}) {
    used.push_back({std::string("/srv/x/") + name, Access::ReadOnly, "/srv"});
    used.push_back({std::string("/srv/x/a/") + name, Access::ReadWrite, "/srv"});
  }
  CHECK(text(collapsed(used)) == "read-only /srv/x\nread-write /srv/x/a\n");
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}
std::string errorOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

TEST_CASE("the file is written once, and never over another") {
  test::TempTree tree;
  const std::string path = tree.at("f.toml");
  llvm::Expected<LearnedFile> file = LearnedFile::create(path);
  REQUIRE(bool(file));
  CHECK(!errorOf(file->write("one")).size());
  CHECK(read(path) == "one");
  CHECK(errorOf(file->write("two")).find("is not overwritten") != std::string::npos);
  CHECK(read(path) == "one");
  llvm::Expected<LearnedFile> again = LearnedFile::create(path);
  CHECK(errorOf(again.takeError()).find("exists, and is not overwritten") != std::string::npos);
  // Nothing of a failed attempt stays.
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tree.at("")))
    count += entry.path().filename().string().starts_with(".learn-");
  CHECK(count == 0);
}

TEST_CASE("a link that the run puts in place leads the file nowhere") {
  test::TempTree tree;
  tree.directory("d");
  tree.directory("elsewhere");
  llvm::Expected<LearnedFile> file = LearnedFile::create(tree.at("d/f.toml"));
  REQUIRE(bool(file));
  std::filesystem::rename(tree.at("d"), tree.at("was"));
  std::filesystem::create_directory_symlink(tree.at("elsewhere"), tree.at("d"));
  std::filesystem::create_symlink(tree.at("elsewhere/x"), tree.at("was/f.toml"));
  CHECK(errorOf(file->write("one")).find("was made by the run") != std::string::npos);
  CHECK(std::filesystem::is_empty(tree.at("elsewhere")));
}

TEST_CASE("names that are no files are refused before the run") {
  for (const char* path : {"", ".", "/", "a/", "a/..", "/no/such/directory/f.toml"}) {
    llvm::Expected<LearnedFile> file = LearnedFile::create(path);
    CHECK_MESSAGE(!file, path);
    llvm::consumeError(file.takeError());
  }
}

} // namespace
} // namespace gos::sandbox
