// The chip of networks that are for no other: this processor.
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/import/processor.hpp>

tilewright::imported::chip_of_tool tilewright::imported::tool_is_for() {
    namespace machines = targets::c_vectors;
    static chip const emulated = chip(this_processor().as_chip)
                                     .emulated_by("cpu", semantics_of<machines::host>)
                                     .emulated_by("floats", semantics_of<machines::floats>)
                                     .emulated_by("bytes", semantics_of<machines::bytes>);
    return {emulated, "tilewright/import/processor.hpp", "tilewright::imported::this_processor().as_chip"};
}
