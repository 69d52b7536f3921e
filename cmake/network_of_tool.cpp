// The chip of networks that are for no other: this processor.
#include <tilewright/import/processor.hpp>

tilewright::imported::chip const& tilewright::imported::chip_of_tool() { return this_processor().as_chip; }
