# What every target of ours is compiled with.
add_library(tandem_warnings INTERFACE)
target_compile_options(tandem_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    -Wswitch-enum -Wvla -Wformat=2 -Wundef -Wcast-qual)
