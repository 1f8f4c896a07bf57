#include "tests/stdsandbox/support.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gos::stdsandbox {

namespace fs = std::filesystem;

bool hostGives(llvm::StringRef level) {
  const Tree tree;
  tree.write("level.gos", ("use std::sandbox\nfn main() { println!(\"{:?}\", sandbox::Policy::new()"
                           ".working_directory(\"/\").level(\"" +
                           level + "\").check()) }\n")
                              .str());
  Launch asking;
  asking.directory = tree.root();
  asking.arguments = {"run", "level.gos"};
  const Outcome outcome = threats::launch(asking);
  if (outcome.exitCode == 0 && llvm::StringRef(outcome.out).starts_with("Ok"))
    return true;
  // A broken library must not look like a weak host.
  CHECK_MESSAGE(outcome.out.find("is not available") != std::string::npos,
                outcome.out << outcome.err);
  threats::skipPart("level " + level.str(), outcome.out);
  return false;
}

Scene::Scene() {
  tree_.write(key(), "SECRET KEY\n");
  environment = {{"HOME", tree_.home()}};
}

void Scene::copy(const std::string& directory) {
  fs::copy(std::string(GOS_SOURCE_DIR) + "/" + directory, tree_.root(),
           fs::copy_options::recursive);
}

void Scene::program(llvm::StringRef body) {
  entry_ = "main.gos";
  tree_.write("main.gos", R"(use std::context
use std::env
use std::errors
use std::fs
use std::net
use std::os::signal
use std::process
use std::runtime
use std::sandbox
use std::sync
use std::thread
use std::time

fn show(name: String, result: Result<sandbox::Output, errors::Error>) {
    match result {
        Ok(out) => println!("{}: {} [{}] [{}]", name, out.code, out.stdout.trim(), out.stderr.trim())
        Err(e) => println!("{}: error: {}", name, e)
    }
}

/// The tools of the system and the working directory.
fn tools() -> sandbox::Policy {
    sandbox::Policy::new().read_only("/usr").read_write(".").env_allow("PATH")
}

fn main() {
)" + body.str() + "}\n");
}

Launch Scene::launchOf(std::vector<std::string> words,
                       const std::vector<std::string>& arguments) const {
  Launch launch;
  launch.directory = tree_.root();
  launch.arguments = std::move(words);
  launch.arguments.insert(launch.arguments.end(), arguments.begin(), arguments.end());
  launch.environment = environment;
  launch.input = input;
  return launch;
}

Outcome Scene::run(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"run", entry_};
  if (!arguments.empty())
    words.push_back("--");
  Outcome outcome = threats::launch(launchOf(std::move(words), arguments));
  CHECK(!outcome.timedOut);
  return outcome;
}

/// What starts the executable that was built.
Launch Scene::buildIt() {
  const std::string executable = tree_.top() + "/program";
  const Outcome compiled =
      threats::launch(launchOf({"build", "--quiet", "-o", executable, entry_}, {}));
  CHECK_MESSAGE(compiled.exitCode == 0, compiled.err);
  Launch built = launchOf({}, {});
  built.program = executable;
  return built;
}

Outcome Scene::runBoth(const std::vector<std::string>& arguments) {
  Outcome ran = run(arguments);
  Launch built = buildIt();
  built.arguments = arguments;
  const Outcome found = threats::launch(built);
  CHECK(!found.timedOut);
  CHECK(found.out == ran.out);
  CHECK(found.err == ran.err);
  CHECK(found.exitCode == ran.exitCode);
  CHECK(found.signal == ran.signal);
  return ran;
}

void Scene::eachWay(const std::function<void(const Outcome&)>& judge) {
  judge(run());
  judge(threats::launch(buildIt()));
}

std::vector<int> processIdsWith(llvm::StringRef text) {
  std::vector<int> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", ignored)) {
    int id = 0;
    if (llvm::StringRef(entry.path().filename().string()).getAsInteger(10, id))
      continue;
    std::ifstream file(entry.path() / "cmdline");
    std::stringstream words;
    words << file.rdbuf();
    if (words.str().find(text.str()) != std::string::npos)
      found.push_back(id);
  }
  return found;
}

size_t processesWith(llvm::StringRef text) {
  return processIdsWith(text).size();
}

} // namespace gos::stdsandbox
