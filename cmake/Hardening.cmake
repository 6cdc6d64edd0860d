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

# Every optimised build is hardened, except one with sanitizers, which find more by themselves, and
# one that measures coverage.
if(NOT TANDEM_SANITIZE AND NOT TANDEM_COVERAGE)
    set(optimised "$<CONFIG:Release,RelWithDebInfo,MinSizeRel>")
    target_compile_options(tandem_build INTERFACE
        "$<${optimised}:-fstack-protector-strong>" "$<${optimised}:-fPIE>")
    target_link_options(tandem_build INTERFACE
        "$<${optimised}:-pie>" "$<${optimised}:-Wl,-z,relro,-z,now>")

    # A level that a distribution sets, in CFLAGS or in its compiler, stays as it is.
    include(CheckCSourceCompiles)
    include(CMakePushCheckState)
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_FLAGS "-O2")
    check_c_source_compiles("
        #ifndef _FORTIFY_SOURCE
        #error not set
        #endif
        int main(void) { return 0; }" TANDEM_FORTIFIED_BY_COMPILER)
    cmake_pop_check_state()
    if(NOT TANDEM_FORTIFIED_BY_COMPILER AND NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE")
        target_compile_definitions(tandem_build INTERFACE "$<${optimised}:_FORTIFY_SOURCE=2>")
    endif()
endif()

# Objects for link-time optimisation need an archiver that reads them. Clang's is llvm-ar, which is in a
# package of its own; without it, the link would fail with undefined symbols.
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION)
    if(NOT DEFINED TANDEM_CAN_OPTIMISE_LINKS)
        include(CheckIPOSupported)
        check_ipo_supported(RESULT can OUTPUT why LANGUAGES C)
        set(TANDEM_CAN_OPTIMISE_LINKS ${can} CACHE INTERNAL "Link-time optimisation works")
        file(WRITE ${CMAKE_BINARY_DIR}/link-time-optimisation.log "${why}")
    endif()
    if(NOT TANDEM_CAN_OPTIMISE_LINKS)
        message(WARNING "Built without link-time optimisation: ${CMAKE_C_COMPILER} cannot do it here. "
            "clang needs llvm-ar, from the package llvm; what was tried is in "
            "${CMAKE_BINARY_DIR}/link-time-optimisation.log")
        set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)
    endif()
endif()
