# COVSHIFT_PORTABLE: all but the C library and libgcc_s is linked in, for files that run on other systems.
# Debian's archives can be linked into a shared library but for their uses of stdin, stdout and
# stderr: these become variables of portable.cpp in copies of the archives.
add_library(covshift_portable OBJECT ${CMAKE_CURRENT_LIST_DIR}/portable.cpp)
target_compile_options(covshift_portable PRIVATE -fvisibility=hidden -fkeep-inline-functions
  -ffunction-sections)
set(archives $<TARGET_OBJECTS:covshift_portable>)
foreach(name Clp CoinUtils lapack_pic blas bz2)
  find_library(COVSHIFT_ARCHIVE_${name} lib${name}.a REQUIRED)
  set(copy ${CMAKE_CURRENT_BINARY_DIR}/portable/lib${name}.a)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/portable)
  execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym stdin=covshift_stdin
    --redefine-sym stdout=covshift_stdout --redefine-sym stderr=covshift_stderr
    ${COVSHIFT_ARCHIVE_${name}} ${copy} COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND archives ${copy})
endforeach()
set_target_properties(Clp::Clp PROPERTIES INTERFACE_LINK_LIBRARIES "${archives}")
# There is no archive of fmt: portable.cpp contains it.
add_library(covshift_fmt INTERFACE)
target_compile_definitions(covshift_fmt INTERFACE
  $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
set(covshift_fmt $<BUILD_INTERFACE:covshift_fmt>)
target_link_options(covshift_flags INTERFACE -static-libstdc++ LINKER:--gc-sections)
