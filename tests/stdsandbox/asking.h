#pragma once
// The attacks of section 13 against programs: a Gossamer program (asks.gos) runs what words ask
// for, by `gos run` and as the executable that was built of it, as root and as an ordinary user, at
// each level. A case first shows that its act works without a sandbox.

#include "tests/sandbox/each.h"
#include "tests/support/leftovers.h"

#include <string>
#include <vector>

namespace gos::cases {

/// One run: a policy as requests (METHOD VALUE)..., what is asked, and a command.
struct Ask {
  std::vector<std::string> policy;
  std::vector<std::string> command;
  std::string how = "run"; // inherit, check, explain, json, access, lists, max_level
};
struct Answer {
  int code = -1;       // of the command; -1: there is no answer, or an error
  std::string problem; // the program's error; empty: the command ran
  std::string out, err;
  bool ran() const { return problem.empty() && code >= 0; }
};

/// `gos run asks.gos --` and the built one, to put words behind.
std::vector<std::vector<std::string>> bothWays();
/// The words of some runs.
std::vector<std::string> wordsOf(const std::vector<Ask>& asks);
/// What a program answered, one for each run.
std::vector<Answer> answersOf(const std::string& text);

/// All of it by one program, both ways, and both have to answer the same: the answers.
/// `before`: words of a command that gets the program with its words.
std::vector<Answer> askAll(const Room& room, const std::vector<Ask>& asks, const How& how = {},
                           const std::vector<std::string>& before = {});
Answer ask(const Room& room, const Ask& one, const How& how = {});
/// A shell script in which "$@" is the program with its words; once for each way, without a
/// comparison.
std::vector<Outcome> shellWith(const Room& room, const std::vector<Ask>& asks,
                               const std::string& script, const How& how = {});

/// The tools of the system, and the project to write.
std::vector<std::string> tools(const Room& room, const std::string& level,
                               const std::vector<std::string>& more = {});
/// The same with `sh -c SCRIPT`.
Ask shellAsk(const Room& room, const std::string& level, const std::vector<std::string>& more,
             const std::string& script);

/// `each` over the levels of the list that this host gives; a skip for one that it does not.
template <class Body> void eachGiven(const std::vector<std::string>& levels, Body body);
bool givenHere(const Room& room, const std::string& level);

template <class Body> void eachGiven(const std::vector<std::string>& levels, Body body) {
  each(levels, [&](const Room& room, const std::string& level) {
    if (givenHere(room, level))
      body(room, level);
  });
}

/// Nothing ran, and the program has one line of text with the part, whose bytes act on no terminal.
void checkRefused(const Room& room, const Answer& answer, const std::string& part);

/// A number of seconds that only this test sleeps, so that its processes can be told from all
/// others.
std::string uniqueSleep(int which);
/// Waits for the last process with the text to be gone.
bool gone(const std::string& text);

} // namespace gos::cases
