# Writes OUTPUT, which names the commit that SOURCE is at, if it says something else: run at each build, so that the
# program says what it was built from. Changes that are not committed are marked; a tree without git is "unknown".
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
else()
  execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND commit "-modified")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define FAIRLEAD_COMMIT \"${commit}\"\n")
