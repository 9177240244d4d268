# One static library for each folder of src/ that has sources, linked with all those before it. The
# order is DESIGN.md's; scripts/check-folders holds the #include lines to it.
set(INQUEST_FOLDERS common layout program evidence analysis solve trace
    ask slice path suspects chain explain report)

# What a folder links besides the folders before it.
set(INQUEST_FOLDER_common_LINKS inquest_jansson inquest_nettle m)
set(INQUEST_FOLDER_program_LINKS inquest_llvm inquest_elf inquest_zstd inquest_zlib inquest_expat)
set(INQUEST_FOLDER_evidence_LINKS inquest_dw inquest_elf inquest_zstd inquest_capstone)
set(INQUEST_FOLDER_solve_LINKS inquest_roaring)
set(INQUEST_FOLDER_suspects_LINKS inquest_sqlite inquest_pq_headers m)

set(INQUEST_LIBRARIES)
foreach(folder IN LISTS INQUEST_FOLDERS)
    file(GLOB sources CONFIGURE_DEPENDS src/${folder}/*.c src/${folder}/*/*.c)
    if(NOT sources)
        continue()
    endif()
    add_library(${folder} STATIC ${sources})
    set_target_properties(${folder} PROPERTIES OUTPUT_NAME inquest-${folder})
    target_link_libraries(${folder} PUBLIC inquest_flags inquest_sanitize)
    # Newest first: a static library comes before those that it uses.
    target_link_libraries(${folder} PUBLIC ${INQUEST_LIBRARIES} ${INQUEST_FOLDER_${folder}_LINKS})
    list(PREPEND INQUEST_LIBRARIES ${folder})
endforeach()
