# Programs for boards that QEMU has, from C: board_executable() and board_test().
include_guard(GLOBAL)

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

# board_executable(NAME BOARD mps2_an521|mps3_an547 SOURCES file.c… [CORE0_SOURCES file.c…] [DEPENDS target…] [INCLUDES folder…]
#                  [DEFINITIONS NAME=value…] [OPTIONS flag…])
#
# Makes the target NAME, which builds NAME.elf. `main` runs on the core that has all instructions. Folders of sources are searched for headers,
# and so are this one and the headers of Tilewright.
#
#   SOURCES         for the core that runs `main`
#   CORE0_SOURCES   for core 0 of the MPS2-AN521, which has neither DSP instructions nor floating point
#   DEPENDS         targets that write sources, such as kernels with SOURCE_ONLY
function(board_executable name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "BOARD" "SOURCES;CORE0_SOURCES;DEPENDS;INCLUDES;DEFINITIONS;OPTIONS")
    if(NOT BOARD_CC)
        return()
    endif()
    set(main_core core0)
    set(first_core core0)
    if(ARG_BOARD STREQUAL "mps2_an521")
        set(main_core core1)
    endif()
    set(common ${BOARD_FLAGS} ${ARG_OPTIONS})
    foreach(folder IN LISTS BOARD_INCLUDES ARG_INCLUDES)
        list(APPEND common -I${folder})
    endforeach()
    foreach(source IN LISTS ARG_SOURCES ARG_CORE0_SOURCES)
        cmake_path(GET source PARENT_PATH folder)
        cmake_path(ABSOLUTE_PATH folder)
        list(APPEND common -I${folder})
    endforeach()
    string(TOUPPER ${ARG_BOARD} board_macro)
    foreach(definition IN ITEMS BOARD_${board_macro} ${ARG_DEFINITIONS})
        list(APPEND common -D${definition})
    endforeach()
    list(REMOVE_DUPLICATES common)

    set(objects)
    foreach(core IN ITEMS main first)
        set(sources ${ARG_SOURCES})
        if(core STREQUAL "first")
            set(sources ${BOARD_DIRECTORY}/${ARG_BOARD}.c ${ARG_CORE0_SOURCES})
        endif()
        foreach(source IN LISTS sources)
            cmake_path(ABSOLUTE_PATH source)
            cmake_path(GET source STEM stem)
            set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.${${core}_core}.${stem}.o)
            add_custom_command(OUTPUT ${object}
                COMMAND ${BOARD_CC} ${BOARD_${ARG_BOARD}_${${core}_core}} ${common} -MD -MF ${object}.d -c ${source} -o ${object}
                DEPENDS ${source} ${ARG_DEPENDS} DEPFILE ${object}.d
                COMMENT "Compiling ${stem}.c for ${ARG_BOARD}" VERBATIM)
            list(APPEND objects ${object})
        endforeach()
    endforeach()
    set(script ${BOARD_DIRECTORY}/${ARG_BOARD}.ld)
    add_custom_command(OUTPUT ${name}.elf
        COMMAND ${BOARD_CC} ${BOARD_${ARG_BOARD}_${main_core}} --specs=rdimon.specs -nostartfiles -T ${script}
            -Wl,--gc-sections,--no-warn-rwx-segments ${objects} -o ${name}.elf
        DEPENDS ${objects} ${script}
        COMMENT "Linking ${name}.elf" VERBATIM)
    add_custom_target(${name} ALL DEPENDS ${name}.elf)
    set_target_properties(${name} PROPERTIES BOARD_ELF ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf BOARD ${ARG_BOARD})
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
    string(REPLACE "_" "-" machine ${board})
    set(${result} ${BOARD_QEMU} -M ${machine} -display none -semihosting-config enable=on,target=native -icount shift=8 -kernel ${elf}
        PARENT_SCOPE)
endfunction()

# board_test(NAME EXECUTABLE)
#
# A test that the executable succeeds.
function(board_test name executable)
    board_command(command ${executable})
    add_test(NAME ${name} COMMAND ${command})
endfunction()
