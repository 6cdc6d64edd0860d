# Files in the program.
#
# tandem_embed(TARGET NAME FILE): the file's bytes become `NAME`, and their number `NAME_len`, as
# sources of the target. A header of the folder's own declares both.
function(tandem_embed TARGET NAME FILE)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${FILE})
    set(made ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.c)
    add_custom_command(OUTPUT ${made}
        COMMAND ${CMAKE_COMMAND} -D NAME=${NAME} -D FILE=${source} -D MADE=${made}
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake
        DEPENDS ${source} ${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake
        VERBATIM)
    target_sources(${TARGET} PRIVATE ${made})
endfunction()

# tandem_embed_page(TARGET FILE...): the files of a web page in this folder, plain and compressed, as
# a source of the target. admin/page/assets.h declares them.
function(tandem_embed_page TARGET)
    find_program(GZIP_EXECUTABLE gzip REQUIRED)
    set(folder ${CMAKE_CURRENT_SOURCE_DIR})
    set(made ${CMAKE_CURRENT_BINARY_DIR}/page.c)
    list(TRANSFORM ARGN PREPEND ${folder}/ OUTPUT_VARIABLE sources)
    list(JOIN ARGN "," files)
    add_custom_command(OUTPUT ${made}
        COMMAND ${CMAKE_COMMAND} -D FOLDER=${folder} -D FILES=${files} -D MADE=${made}
            -D GZIP=${GZIP_EXECUTABLE} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedPage.cmake
        DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/cmake/EmbedPage.cmake
        VERBATIM)
    target_sources(${TARGET} PRIVATE ${made})
endfunction()
