# cmake -DOUTPUT=x.cpp -DFILES="a.html;b.js" -DHEADER=engine/main/service/page_files.h -DTYPE=PageFile -DFUNCTION=page_files
#       -P embed.cmake: writes the files as C++. HEADER declares TYPE {name, text} and the function, which returns a span
# of them; both are of the namespace NAMESPACE (fairlead).
#
# Text is written as numbers: compilers may refuse a string literal of more than 64 KiB.
if(NOT NAMESPACE)
  set(NAMESPACE fairlead)
endif()
set(arrays "")
set(entries "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char kText${number}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"${name}\", {kText${number}, sizeof kText${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {

${arrays}
constexpr ${TYPE} kFiles[] = {
${entries}};

}  // namespace

std::span<const ${TYPE}> ${FUNCTION}() { return kFiles; }

}  // namespace ${NAMESPACE}
")
