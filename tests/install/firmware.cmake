# Installs the project into an empty prefix, builds firmware against it by make, and runs that on the board. Arguments: build, work, board
# (the folder with start-up and linker script), qemu.
file(REMOVE_RECURSE ${work})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/firmware DESTINATION ${work})
function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
run(make -C ${work}/firmware TILEWRIGHT=${work}/prefix BOARD=${board})
run(${qemu} -M mps2-an521 -display none -semihosting-config enable=on,target=native -kernel ${work}/firmware/firmware.elf)
