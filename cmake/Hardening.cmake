# Sanitizers, coverage and release hardening: what a preset switches on for all targets alike.
add_library(tandem_build INTERFACE)
target_compile_definitions(tandem_build INTERFACE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
# Lists and trees are parts of what stands in them, and are reached through both. gcc 12 takes the
# head of a list in a struct for something that appending to another list cannot change, and reads
# it only once: a turn of the loop finished one connection instead of all.
target_compile_options(tandem_build INTERFACE -fno-omit-frame-pointer -fno-strict-aliasing)
if(TANDEM_SANITIZE)
    target_compile_options(tandem_build INTERFACE
        -fsanitize=${TANDEM_SANITIZE} -fno-sanitize-recover=all)
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
