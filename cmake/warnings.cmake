# One place for compiler flags. Warnings are errors.
add_library(fairlead_flags INTERFACE)
target_compile_options(fairlead_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 sees overlaps in std::string's operator+ that are none, when it optimises (gcc bug 105651).
  target_compile_options(fairlead_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
  # Of what is included gcc takes it that others include it, too: here it is files, each once.
  target_compile_options(fairlead_flags INTERFACE -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc looks for garbage each time that its heap has doubled, from 256 MiB on, which is a ninth of a unit's seconds. From
  # 1.4 GiB on it does so here: a unit of commands took 1.5 GB, the others were not measured.
  target_compile_options(fairlead_flags INTERFACE --param=ggc-min-heapsize=700000)
endif()
target_include_directories(fairlead_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
# Asio, Beast and CLI11 are seen only by the folders that own them.
add_compile_definitions(FAIRLEAD_VERSION="${PROJECT_VERSION}")

set(FAIRLEAD_SANITIZE "" CACHE STRING "address, thread or empty")
if(FAIRLEAD_SANITIZE STREQUAL "address")
  # What is left out costs a quarter of the compile time (a third where code is optimised), null and vptr a hundredth. An
  # access behind an object is seen by the address sanitizer.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=object-size -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(FAIRLEAD_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
