# Sanitizers, coverage and release hardening: what a preset switches on for all targets alike.
add_library(tandem_build INTERFACE)
target_compile_definitions(tandem_build INTERFACE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
# The nodes of lists and trees are members of the objects in them, and are accessed through both
# types. With strict aliasing, gcc 12 assumes that appending to a list does not change the head of
# another one, and reads it only once: a turn of the loop finished one connection instead of all.
target_compile_options(tandem_build INTERFACE -fno-strict-aliasing)
# Sanitizers find the callers of a function by its frame pointer. A release has none: they cost 4 to
# 5 % of the instructions of a job, and debuggers and perf read the unwind tables instead.
if(TANDEM_SANITIZE)
    target_compile_options(tandem_build INTERFACE
        -fsanitize=${TANDEM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(tandem_build INTERFACE -fsanitize=${TANDEM_SANITIZE})
endif()
if(TANDEM_COVERAGE)
    target_compile_options(tandem_build INTERFACE --coverage)
    target_link_options(tandem_build INTERFACE --coverage)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_definitions(tandem_build INTERFACE _FORTIFY_SOURCE=2)
    target_compile_options(tandem_build INTERFACE -fstack-protector-strong -fPIE)
    target_link_options(tandem_build INTERFACE -pie -Wl,-z,relro,-z,now)
endif()
