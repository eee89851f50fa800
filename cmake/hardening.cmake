# What keeps a memory fault from being used: it ends the program instead. Of optimised builds only; the sanitizers
# see more, and glibc's checks need the optimiser. tests/style/check_hardening.py reads all of it from the program.
include_guard()
if(NOT FAIRLEAD_SANITIZE)
  set(release "$<CONFIG:Release>")
  set(program "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>")
  set(archive "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,STATIC_LIBRARY>")
  add_compile_options(
    "$<${release}:-fstack-protector-strong>"
    # Some compilers predefine it, and a second value is a warning.
    "$<${release}:-U_FORTIFY_SOURCE>" "$<${release}:-D_FORTIFY_SOURCE=3>"
    "$<$<AND:${release},$<OR:${program},${archive}>>:-fPIE>")
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    add_compile_options("$<${release}:-fcf-protection=full>")
    # The program's note of it, which linkers drop where a start file of the C runtime lacks it, as Debian's does.
    add_link_options("$<$<AND:${release},${program}>:LINKER:-z,ibt,-z,shstk>")
  endif()
  add_link_options("$<${release}:LINKER:-z,relro,-z,now>" "$<$<AND:${release},${program}>:-pie>")
endif()
