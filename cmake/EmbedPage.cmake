# Writes the files FILES of FOLDER, each as it is and compressed by GZIP, as C to MADE: the table of
# routes and the table of files that admin/page/assets.h declares; see Embed.cmake.
set(types_html "text/html; charset=utf-8")
set(types_css "text/css; charset=utf-8")
set(types_js "text/javascript; charset=utf-8")
set(types_svg "image/svg+xml")
set(arrays "")
set(rows "")
set(routes "")
set(index 0)
set(squeezed ${MADE}.gz)

macro(array NAME FILE)
    file(READ ${FILE} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "static const unsigned char ${NAME}[] = {\n${bytes}\n};\n")
endmacro()

string(REPLACE "," ";" files "${FILES}")
foreach(file IN LISTS files)
    execute_process(COMMAND ${GZIP} -9nc ${FOLDER}/${file} OUTPUT_FILE ${squeezed}
        COMMAND_ERROR_IS_FATAL ANY)
    array(plain_${index} ${FOLDER}/${file})
    array(gzip_${index} ${squeezed})
    file(SHA256 ${FOLDER}/${file} tag)
    string(SUBSTRING ${tag} 0 16 tag)
    string(REGEX REPLACE ".*[.]" "" ending ${file})
    set(path /${file})
    if(file STREQUAL "index.html")
        set(path /)
    endif()
    string(APPEND rows "    {\"${path}\", \"${types_${ending}}\", \"${tag}\", plain_${index}, gzip_${index},\n"
        "     sizeof plain_${index}, sizeof gzip_${index}},\n")
    string(APPEND routes "    {.path = \"${path}\", .method = HTTP1_GET, .early = true, .answer = asset_answer},\n")
    math(EXPR index "${index} + 1")
endforeach()
file(REMOVE ${squeezed})
file(WRITE ${MADE} "#include \"admin/page/assets.h\"\n\n${arrays}\n"
    "const struct asset admin_assets[] = {\n${rows}    {.path = NULL},\n};\n\n"
    "const struct admin_route asset_routes[] = {\n${routes}    {.path = NULL},\n};\n")
