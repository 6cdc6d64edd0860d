# Writes FILE as C to MADE; see Embed.cmake.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${MADE} "#include <stddef.h>\n\nextern const unsigned char ${NAME}[];\n"
    "extern const size_t ${NAME}_len;\n"
    "const unsigned char ${NAME}[] = {\n${bytes}\n};\n"
    "const size_t ${NAME}_len = sizeof ${NAME};\n")
