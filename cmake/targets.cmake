# fairlead_cold(target [file...]): code, or these files of it, whose speed no sanitized test feels. Under a sanitizer most
# of a build is code generation; without optimisation it takes half as long.
function(fairlead_cold target)
  if(NOT FAIRLEAD_SANITIZE)
    return()
  endif()
  if(ARGN)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS -O0)
  else()
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# fairlead_library(name LINK other...): a static library of every .cpp of this folder (not of folders below it), without
# those that EXCEPT names.
function(fairlead_library name)
  cmake_parse_arguments(arg "" "" "LINK;EXCEPT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
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
  if(NOT FAIRLEAD_SANITIZE)
    target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-O1>)
  elseif(NOT arg_HOT)
    fairlead_cold(${program})
  endif()
  add_test(NAME ${name} COMMAND ${program} ${arg_ARGS} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(arg_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
  endif()
endfunction()
