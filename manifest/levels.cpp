#include "manifest/project.h"

namespace gos {

ComptimePolicy makeComptimePolicy(const Project& project, std::optional<ComptimeIo> commandLine,
                                  Engine& engine) {
  ComptimePolicy policy;
  policy.commandLine = commandLine.value_or(ComptimeIo::Confined);
  policy.fromCommandLine = commandLine.has_value();
  policy.denials = project.denials;
  for (const Package& package : project.packages) {
    PackagePolicy made;
    made.name = package.id.empty() ? package.entry : package.id;
    made.level = package.level;
    made.origin = package.levelOrigin;
    if (package.levelOrigin == LevelOrigin::Manifest) {
      const SourceMap& sources = engine.sources();
      if (FileId file = sources.fileOf(package.levelSpan); file != FileId::None)
        made.manifest = sources.file(file).name;
      made.line = sources.locate(package.levelSpan).line;
    }
    made.hasRoot = package.hasRoot;
    if (package.hasRoot) {
      made.root = package.directory;
      made.rootSpelling = package.spelling;
    }
    made.base = package.baseDirectory;
    made.whyNoRoot = package.whyNoRoot;
    policy.packages.push_back(std::move(made));
  }
  for (const Package& package : project.packages) {
    if (!package.manifest || !package.manifest->comptimeIo)
      continue;
    const Spanned<ComptimeIo>& asked = *package.manifest->comptimeIo;
    const ComptimeIo granted = policy.levelFor(package.index, package.index).level;
    if (asked.value <= granted)
      continue;
    Diagnostic& report = engine.report(asked.span, diag::ManifestAsksForMore, "comptime-io",
                                       spelling(asked.value), spelling(granted));
    report.note("a manifest tightens what the command line grants and never loosens it");
    if (policy.commandLine < asked.value)
      report.help("to grant it, pass `--comptime-io=" + spelling(asked.value).str() + "`");
  }
  return policy;
}

} // namespace gos
