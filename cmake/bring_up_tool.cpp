#include <tilewright/bring_up/bring_up_tool.hpp>

int main(int argument_count, char** arguments) {
    using tilewright::bring_up::machine_of_tool;
    return tilewright::bring_up::write_bring_up(machine_of_tool.where, machine_of_tool.name, argument_count, arguments);
}
