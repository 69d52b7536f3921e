// The chip of networks that are for no other: this processor.
#include <tilewright/import/processor.hpp>

tilewright::imported::chip_of_tool tilewright::imported::tool_is_for() {
    return {this_processor().as_chip, "tilewright/import/processor.hpp", "tilewright::imported::this_processor().as_chip"};
}
