# How a release is compiled. gcc's -O3 takes a fifth longer than -O2 without the passes that cost it most, which nothing that is
# measured gains by (docs/performance.md); fairlead_warm and fairlead_cold compile more quickly what is not done at each fact.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<CONFIG:Release>:-O2;-fno-ipa-cp;-fno-ipa-sra;-fno-ipa-icf;-fno-schedule-insns2;-fno-gcse>")
endif()

# fairlead_warm(target...): done at each decision, or once for a log, where a tenth of the time is not felt. -O1 with
# the inlining of -O2 takes three quarters of the time of -O2.
function(fairlead_warm)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE
        -O1 -finline-small-functions -fstrict-aliasing -foptimize-sibling-calls)
    endforeach()
  endif()
endfunction()

# fairlead_cold(target [BUSY] [file...]): code, or these files of it, whose speed neither a hub nor a sanitized test feels: it
# runs once a process or once a question of a person. A release compiles it with -Og: forty files of commands took 22 s so
# and 27 s with -O1. BUSY is what waits for a network, a clock or a reader of lines and works at each request or line: -O1.
# Under a sanitizer most of a build is code generation; without optimisation it takes half as long.
# The files are objects of a target of their own: CMake leaves a file with options of its own out of unity builds.
function(fairlead_cold target)
  cmake_parse_arguments(arg "BUSY" "" "" ${ARGN})
  set(files ${arg_UNPARSED_ARGUMENTS})
  if(FAIRLEAD_SANITIZE)
    set(level -O0)
  elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  elseif(arg_BUSY)
    set(level -O1)
  else()
    set(level -Og)
  endif()
  if(files)
    list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
    get_target_property(sources ${target} SOURCES)
    list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
    list(REMOVE_ITEM sources ${files})
    set_target_properties(${target} PROPERTIES SOURCES "${sources}")
    add_library(${target}_cold OBJECT ${files})
    get_target_property(libraries ${target} LINK_LIBRARIES)
    target_link_libraries(${target}_cold PRIVATE ${libraries})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_cold>)
    set(target ${target}_cold)
  endif()
  target_compile_options(${target} PRIVATE ${level})
endfunction()

# fairlead_library(name LINK other...): a static library of every .cpp of this folder and of the folders below it that ROOMS
# names, without those that EXCEPT names.
function(fairlead_library name)
  cmake_parse_arguments(arg "" "" "LINK;EXCEPT;ROOMS" ${ARGN})
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(room IN LISTS arg_ROOMS)
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  list(TRANSFORM arg_EXCEPT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${arg_LINK})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE fairlead_flags)
endfunction()

# fairlead_test(name LINK other...): one Catch2 program of every .cpp of this folder, run by ctest as `name`.
# ARGS are passed to it. LABELS select it in presets. HOT: sanitized too it is optimised, because of the templates of hot
# code the linker may keep what the test's own files made of them.
function(fairlead_test name)
  cmake_parse_arguments(arg "HOT" "" "LINK;ARGS;LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  string(REPLACE "/" "-" program "test-${name}")
  add_executable(${program} ${sources})
  target_link_libraries(${program} PRIVATE ${arg_LINK} fairlead_test_main fairlead_flags)
  # With this and -Og eight files of tests take 12 s in place of 16 (gcc 12).
  target_compile_definitions(${program} PRIVATE CATCH_CONFIG_FAST_COMPILE)
  if(NOT FAIRLEAD_SANITIZE)
    target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-Og>)
  elseif(NOT arg_HOT)
    fairlead_cold(${program})
  endif()
  add_test(NAME ${name} COMMAND ${program} ${arg_ARGS} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(arg_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
  endif()
endfunction()
