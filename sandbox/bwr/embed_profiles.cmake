# Writes OUTPUT, a .cpp with the profiles of FOLDER (NAME.toml) as string literals, each with its
# `commands` taken out of the text: choosing one by a command's name reads none of them.
#   cmake -DFOLDER=... -DOUTPUT=... -P embed_profiles.cmake
file(GLOB profiles ${FOLDER}/*.toml)
list(SORT profiles)
set(rows "")
foreach(profile IN LISTS profiles)
  get_filename_component(name ${profile} NAME_WE)
  file(READ ${profile} text)
  if(text MATCHES "\\)gos_profile\"")
    message(FATAL_ERROR "${profile} holds the end mark of the literal it is embedded in")
  endif()
  if(NOT text MATCHES "\ncommands = \\[([^]]*)\\]\n")
    message(FATAL_ERROR "${profile} has no line `commands = [...]`")
  endif()
  string(REGEX REPLACE "[\", ]+" " " commands " ${CMAKE_MATCH_1} ")
  string(APPEND rows "    {\"${name}\", \"${commands}\", R\"gos_profile(${text})gos_profile\"},\n")
endforeach()
file(WRITE ${OUTPUT}
"// Made from sandbox/bwr/profiles by embed_profiles.cmake.
#include \"sandbox/bwr/profile_set.h\"

namespace gos::bwr {

llvm::ArrayRef<ShippedProfile> shippedProfiles() {
  static constexpr ShippedProfile kProfiles[] = {
${rows}  };
  return kProfiles;
}

} // namespace gos::bwr
")
