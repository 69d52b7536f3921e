# Programs for boards that QEMU has, from C: board_objects(), board_executable() and board_test().
include_guard(DIRECTORY)

set(BOARD_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
set(BOARD_INCLUDES ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/../../../include)
set(BOARD_PACKAGES "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm")
find_program(BOARD_CC arm-none-eabi-gcc)
find_program(BOARD_QEMU qemu-system-arm)
if(NOT BOARD_CC OR NOT BOARD_QEMU)
    message(WARNING "Programs for boards are not built, and their tests fail: install the Debian packages ${BOARD_PACKAGES}")
endif()

# Warnings are errors, as everywhere. A section for each function, so that programs have only what they use.
set(BOARD_FLAGS -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -ffunction-sections -fdata-sections)
# What the cores are. Functions of both link with each other, since numbers in floating point are passed in the registers of integers.
set(BOARD_mps2_an521_core0 -mcpu=cortex-m33+nodsp+nofp -mfloat-abi=soft)
set(BOARD_mps2_an521_core1 -mcpu=cortex-m33 -mfloat-abi=softfp)
set(BOARD_mps3_an547_core0 -mcpu=cortex-m55 -mfloat-abi=hard)

# Sets `result` to objects: `sources`, each compiled for a core of a board. Uses ARG_DEPENDS, ARG_INCLUDES, ARG_DEFINITIONS and ARG_OPTIONS.
function(_board_compile result name board core)
    string(TOUPPER ${board} board_macro)
    set(flags ${BOARD_${board}_${core}} ${BOARD_FLAGS} ${ARG_OPTIONS})
    foreach(definition IN ITEMS BOARD_${board_macro} ${ARG_DEFINITIONS})
        list(APPEND flags -D${definition})
    endforeach()
    set(folders ${BOARD_INCLUDES} ${ARG_INCLUDES})
    foreach(source IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH source)
        cmake_path(GET source PARENT_PATH folder)
        list(APPEND folders ${folder})
    endforeach()
    list(REMOVE_DUPLICATES folders)
    list(TRANSFORM folders PREPEND -I)
    set(objects)
    foreach(source IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH source)
        cmake_path(GET source STEM stem)
        set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.${core}.${stem}.o)
        add_custom_command(OUTPUT ${object}
            COMMAND ${BOARD_CC} ${flags} ${folders} -MD -MF ${object}.d -c ${source} -o ${object}
            DEPENDS ${source} ${ARG_DEPENDS} DEPFILE ${object}.d
            COMMENT "Compiling ${stem}.c for ${board}" VERBATIM)
        list(APPEND objects ${object})
    endforeach()
    set(${result} ${objects} PARENT_SCOPE)
endfunction()
function(_board_main_core result board)
    set(${result} core0 PARENT_SCOPE)
    if(board STREQUAL "mps2_an521")
        set(${result} core1 PARENT_SCOPE)
    endif()
endfunction()

# board_objects(NAME BOARD mps2_an521|mps3_an547 SOURCES file.c… [CORE core0|core1] [DEPENDS target…] [INCLUDES folder…]
#               [DEFINITIONS NAME=value…] [OPTIONS flag…])
#
# Sets the variable NAME to the objects of C sources that several executables have in common.
#
#   CORE      that they are compiled for; without it, the one that runs `main`
#   DEPENDS   targets that write sources, such as kernels with SOURCE_ONLY
#
# Folders of sources are searched for headers, and so are this one and the headers of Tilewright.
function(board_objects name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "BOARD;CORE" "SOURCES;DEPENDS;INCLUDES;DEFINITIONS;OPTIONS")
    set(objects)
    if(BOARD_CC)
        if(NOT ARG_CORE)
            _board_main_core(ARG_CORE ${ARG_BOARD})
        endif()
        _board_compile(objects ${name} ${ARG_BOARD} ${ARG_CORE} ${ARG_SOURCES})
    endif()
    set(${name} ${objects} PARENT_SCOPE)
endfunction()

# board_executable(NAME BOARD mps2_an521|mps3_an547 SOURCES file.c… [OBJECTS file.o…] [DEPENDS target…] [INCLUDES folder…]
#                  [DEFINITIONS NAME=value…] [OPTIONS flag…] [SOURCES_OF_CORE0 file.c…] [LINK_OPTIONS flag…] [DSP_ON_BOTH]
#                  [ICOUNT_SHIFT n])
#
# Makes the target NAME, which builds NAME.elf of sources and of what board_objects() has made. `main` runs on the core that has all
# instructions, and the sources are compiled for it. What both cores call is in sources of core 0. With DSP_ON_BOTH it is for an mps2_an521
# whose core 0 has all instructions, too: QEMU has that one. With ICOUNT_SHIFT, an instruction takes 2^n ns, instead of 2^7.
function(board_executable name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "DSP_ON_BOTH" "BOARD;ICOUNT_SHIFT" "SOURCES;SOURCES_OF_CORE0;OBJECTS;DEPENDS;INCLUDES;DEFINITIONS;OPTIONS;LINK_OPTIONS")
    if(NOT BOARD_CC)
        return()
    endif()
    if(NOT ARG_ICOUNT_SHIFT)
        set(ARG_ICOUNT_SHIFT 7)
    endif()
    list(APPEND ARG_DEFINITIONS BOARD_ICOUNT_SHIFT=${ARG_ICOUNT_SHIFT})
    _board_main_core(core ${ARG_BOARD})
    _board_compile(own ${name} ${ARG_BOARD} ${core} ${ARG_SOURCES})
    _board_compile(start ${name} ${ARG_BOARD} core0 ${BOARD_DIRECTORY}/${ARG_BOARD}.c ${ARG_SOURCES_OF_CORE0})
    set(script ${BOARD_DIRECTORY}/${ARG_BOARD}.ld)
    add_custom_command(OUTPUT ${name}.elf
        COMMAND ${BOARD_CC} ${BOARD_${ARG_BOARD}_${core}} --specs=rdimon.specs -nostartfiles -T ${script}
            -Wl,--gc-sections,--no-warn-rwx-segments ${ARG_LINK_OPTIONS} ${start} ${own} ${ARG_OBJECTS} -o ${name}.elf
        DEPENDS ${start} ${own} ${ARG_OBJECTS} ${script}
        COMMENT "Linking ${name}.elf" VERBATIM)
    add_custom_target(${name} ALL DEPENDS ${name}.elf)
    set(options -icount shift=${ARG_ICOUNT_SHIFT})
    if(ARG_DSP_ON_BOTH)
        list(APPEND options -global sse-200.CPU0_DSP=true -global sse-200.CPU0_FPU=true)
    endif()
    set_target_properties(${name} PROPERTIES BOARD_ELF ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf BOARD ${ARG_BOARD} BOARD_OPTIONS "${options}")
endfunction()

# Sets `result` to the command that runs the executable `name` in QEMU, which counts instructions. Without the compiler or QEMU, to one that
# says so and fails.
function(board_command result name)
    if(NOT TARGET ${name} OR NOT BOARD_QEMU)
        set(${result} ${CMAKE_COMMAND} -E cat "Debian packages for boards are missing: ${BOARD_PACKAGES}" PARENT_SCOPE)
        return()
    endif()
    get_target_property(elf ${name} BOARD_ELF)
    get_target_property(board ${name} BOARD)
    get_target_property(options ${name} BOARD_OPTIONS)
    string(REPLACE "_" "-" machine ${board})
    set(${result} ${BOARD_QEMU} -M ${machine} ${options} -display none -semihosting-config enable=on,target=native -kernel ${elf}
        PARENT_SCOPE)
endfunction()

# board_run_defined(TARGET DEFINITION EXECUTABLE)
#
# The target, a program for this computer, has a definition of the command that runs a board's program, as a text for a shell, and is
# built after it.
function(board_run_defined target definition name)
    board_command(command ${name})
    list(TRANSFORM command REPLACE "(.+)" "'\\1'")
    list(JOIN command " " command)
    target_compile_definitions(${target} PRIVATE ${definition}="${command}")
    if(TARGET ${name})
        add_dependencies(${target} ${name})
    endif()
endfunction()

# board_test(NAME EXECUTABLE)
#
# A test that the executable succeeds, and ends.
function(board_test name executable)
    board_command(command ${executable})
    add_test(NAME ${name} COMMAND ${command})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endfunction()
