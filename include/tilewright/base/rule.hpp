#pragma once
#include <cstdint>

// The rules of computations, schedules and descriptions of machines. The text of a rule is what an error says when the rule is broken.
// clang shows the name, g++ the text.
#define TILEWRIGHT_RULES(X)                                                                                                               \
    X(operands_of_different_types, "operands have different types; write a cast")                                                         \
    X(literal_that_does_not_fit, "a literal does not fit the type of the other operand")                                                  \
    X(literal_without_type, "a literal has no type here; write cast<...>(...) around it")                                                 \
    X(too_many, "there are too many")                                                                                                     \
    X(tensor_without_indices, "a tensor stands without its indices; write an element, such as A(i, j)")                                   \
    X(indices_in_brackets, "indices stand in brackets; write them in parentheses, A(i, j)")                                               \
    X(tensor_without_type, "a tensor has no element type; write one, such as tensor<float>")                                              \
    X(stage_inside_a_value, "a stage is no value; read an element of what it computes")                                                   \
    X(text_as_a_value, "text is no value and no index; write the axis itself")                                                            \
    X(condition_without_bool, "the condition of select is not a bool")                                                                    \
    X(operation_not_for_this_type, "the operation does not exist for the type of its operands")                                           \
    X(computes_with_halves, "float16 and bfloat16 are for memory: compute with cast<float>(...), and store a cast of the result")         \
    X(reduction_inside_a_value, "a reduction is not the whole right-hand side; make it a stage")                                          \
    X(continuing_what_is_no_sum, "only a sum can continue from the contents of its target")                                               \
    X(reading_its_own_output, "a stage reads the tensor that it computes")                                                                \
    X(axis_with_two_extents, "an axis has two extents")                                                                                   \
    X(axis_without_extent, "an axis has no extent, or one below 1")                                                                       \
    X(target_without_plain_axes, "the target must be indexed by plain axes, each once")                                                   \
    X(padding_without_plain_axes, "padded takes a tensor indexed by plain axes, one for each index")                                      \
    X(padding_of_run_time, "a padded tensor has constant extents, not ones left to run time")                                             \
    X(padding_with_two_extents, "padded gives a tensor other extents than its producer or another access does")                           \
    X(padding_in_semantics, "its semantics read a padded tensor")                                                                         \
    X(border_not_staged, "it is read where it lies, without its border, which a cache_read would add")                                    \
    X(border_of_two_values, "its accesses in a stage have different borders; one buffer can hold one of them")                            \
    X(border_without_fill, "no transfer fills a memory with its border, and loops that stay code cannot see it")                          \
    X(nothing_but_border, "all that is staged is border; there is nothing to move")                                                       \
    X(border_in_several_calls, "a dimension with a border takes #0 calls, and each would write its own border")                           \
    X(border_without_pad, "dimension #1 of its calls has #0 elements of border, but no pad argument")                                     \
    X(border_beyond_limit, "#0 elements of border lie at one end, more than its pad_limit of #1")                                         \
    X(border_around_nothing, "the border takes #0 elements of a box that has #1 there: nothing is left to read")                          \
    X(axis_only_on_the_right, "an axis is on the right-hand side only; reduce over it")                                                   \
    X(reduction_over_no_axis, "a reduction names plain axes, then the value")                                                             \
    X(reduction_over_the_output, "a reduction names an axis of the target")                                                               \
    X(axis_not_reduced, "an axis is neither in the target nor named by the reduction")                                                    \
    X(start_along_a_reduction, "what a reduction starts from has an axis that the target does not have")                                  \
    X(index_not_affine, "an index is not affine in the axes; padded(...) takes any other")                                                \
    X(index_of_another_type, "an index that is computed is an int32, or of a smaller type of integers: cast<std::int32_t>(...)")          \
    X(instruction_at_computed_index, "an instruction or transfer takes no element at a computed index")                                   \
    X(computed_by_two_stages, "two stages compute the same tensor")                                                                       \
    X(never_read, "no later stage reads what it computes")                                                                                \
    X(computed_too_late, "a stage reads what a later stage computes; put the producer first")                                             \
    X(used_with_two_ranks, "a tensor is indexed with two ranks")                                                                          \
    X(used_with_two_types, "one name is used with two element types")                                                                     \
    X(name_of_two_things, "one name is used for two things")                                                                              \
    X(no_identifier, "a name is not an identifier, which generated code needs")                                                           \
    X(no_shift_amount, "a shift amount must be from 0 to one less than the bits of its type")                                             \
    X(not_innermost, "tensorize replaces the innermost loops; reorder them inwards past")                                                 \
    X(not_directly_around, "it does not stand directly around the loop to fuse it with")                                                  \
    X(run_time_inside_fused, "its extent is left to run time; of two fused loops only the outer one can be so")                           \
    X(run_time_loop, "its extent is left to run time; split it and name the inner loop")                                                  \
    X(run_time_semantics, "the extents of instructions and transfers are constants, not left to run time")                                \
    X(extent_of_no_argument, "no dimension of an argument is indexed by it alone, to read its extent from")                               \
    X(reduction_fused_with_another, "a reduction and a loop of the output cannot be fused")                                               \
    X(vectorized_reduction, "lanes would change the order of a sum of floats")                                                            \
    X(vectorized_around_steps, "a vectorized loop cannot hold transfers, instructions or other stages")                                   \
    X(parallel_reduction, "threads would add to one sum at a time: a loop that is reduced is not parallel")                               \
    X(parallel_in_parallel, "a loop around it is parallel already")                                                                       \
    X(parallel_with_calls, "what is called inside of it serves one thread at a time: let the core copy and compute")                      \
    X(registers_without_address, "it moves through registers, which have no addresses: unroll or vectorize it")                           \
    X(registers_of_changing_tiles, "partial tiles in registers must all have the same number of its iterations")                          \
    X(vectorized_across_blocks, "its lanes would lie in several blocks of a memory")                                                      \
    X(inside_the_intrinsic, "one step of the intrinsic covers it; name a loop further out")                                               \
    X(inside_a_reduction, "cache_write inside a reduction loads what it has stored: both transfers must block")                           \
    X(outside_its_producer, "it is computed further in; stage it there or inside")                                                        \
    X(continuing_in_the_middle, "only the last stage can continue from the contents of its target")                                       \
    X(gaps_between_outputs, "one iteration computes #0 of #1 elements in a row; what lies between would be overwritten")                  \
    X(read_outside, "what is computed at it is also read outside it")                                                                     \
    X(not_read_by_the_stage, "the current stage does not read it")                                                                        \
    X(not_computed_by_the_stage, "the current stage does not compute it")                                                                 \
    X(not_computed, "no stage computes it")                                                                                               \
    X(not_an_input, "it is no input of the kernel")                                                                                       \
    X(not_the_result, "it is not what the last stage computes")                                                                           \
    X(holds_no_arguments, "no argument can point into `$1`, which has registers, or numbers for addresses")                               \
    X(behind_no_staging, "it must follow the cache_read, cache_write or store_in that it speaks of")                                      \
    X(prefetch_of_output, "what is stored is not loaded ahead; prefetch speaks of a cache_read")                                          \
    X(asked_for_elsewhere, "it asks for lines of `$1`, so it must lie inside the buffer's loop, neither unrolled nor vectorized")         \
    X(asked_for_no_copy, "`$1` can ask for lines only of what the core copies at a loop")                                                 \
    X(without_consumer, "no later stage reads the result, so there is no loop to compute it at")                                          \
    X(behind_tensorize, "loops that tensorize replaces are gone; put tensorize last")                                                     \
    X(without_loops, "a transfer carries the stage out, so it has no loops to direct or stage in")                                        \
    X(row_without_parts, "its rows go in pieces of #0 bytes or more, a call takes #1")                                                    \
    X(row_of_broken_granules, "a row has #0 bytes, which is no multiple of #1")                                                           \
    X(address_not_aligned, "an address is #0 bytes past a multiple of #1")                                                                \
    X(stride_not_aligned, "its rows lie #0 bytes apart, which is no multiple of #1")                                                      \
    X(stride_beyond_reach, "its rows lie #0 bytes apart, at most #1 are taken")                                                           \
    X(other_memories, "it does not lead from `$2` to `$3`")                                                                               \
    X(other_source, "it does not read from `$2`")                                                                                         \
    X(other_destination, "it does not write to `$2`")                                                                                     \
    X(changing_the_data, "staging needs a transfer that copies")                                                                          \
    X(a_reduction, "no transfer reduces")                                                                                                 \
    X(another_value, "it computes another value")                                                                                         \
    X(another_type, "it makes another element type")                                                                                      \
    X(another_pattern, "its source is read in a pattern that no transfer has")                                                            \
    X(another_order, "it takes the dimensions in another order")                                                                          \
    X(other_number_of_loops, "tensorize names #0 loops, the intrinsic has #1 axes")                                                       \
    X(step_behind_an_argument, "the last step reaches past the end of argument `$2`; stage it")                                           \
    X(step_on_the_next_tile, "the last step falls on the next tile of `$2`; stage it further in")                                         \
    X(step_behind_a_reduction, "no transfer fills `$2` so that the last step adds nothing")                                               \
    X(other_index, "one axis moves `$2` by #0, in the intrinsic by #1")                                                                   \
    X(axis_in_two_dimensions, "one axis moves `$2` along two dimensions, #0 and #1")                                                      \
    X(overwrites_an_argument, "`$3` is the caller's, whose tensors have places of their own; stage it")                                   \
    X(overwritten_at_another_loop, "they are made inside #0 and #1 loops; stage or compute both at one loop")                             \
    X(overwrites_partial_sums, "at this loop the buffer holds partial sums, which are loaded there")                                      \
    X(overwrites_another_element, "what a step reads is not the element that it writes")                                                  \
    X(overwrites_another_box, "dimension #0 is #1 long where it is read, and #2 where it is written")                                     \
    X(overwrites_another_layout, "they have different layouts; give both the same")                                                       \
    X(overwritten_and_read, "`$3` reads `$2` after that; let it read a copy, or come first")                                              \
    X(overwrites_other_versions, "there are #0 versions of the one and #1 of the other; give both as many")                               \
    X(overwritten_by_other_steps, "the steps of one transfer are counted over #0 loops, those of the other over #1")                      \
    X(overwritten_in_another_bank, "bank #0 is asked for the one, bank #1 for the other")                                                 \
    X(one_operand_for_two, "it takes `$2` twice, but the stage reads two values, the second from `$3`")                                   \
    X(operand_with_offset, "its semantics index `$2` with the offset #1, which no stage has")                                             \
    X(dimensions_in_one, "two dimensions of `$2` lie in one dimension of the stage")                                                      \
    X(covered_by_a_fused_loop, "a fused loop covers part of an axis of `$2`")                                                             \
    X(neighbours_apart, "neighbours in `$2` lie #0 elements apart, in the intrinsic #1")                                                  \
    X(not_contiguous, "the last dimension of `$2` lies along dimension #0 of its tensor, not along #1")                                   \
    X(across_a_split, "a step moves `$2` by #0 elements, past the end of a part of #1 of its layout")                                     \
    X(across_blocks, "`$2` takes #0 elements from dimension #1 of its buffer, which lie in several blocks")                               \
    X(stride_not_a_multiple, "rows of `$2` lie #0 elements apart, which is no multiple of #1; a layout can pad them")                     \
    X(stride_too_long, "rows of `$2` lie #0 elements apart, at most #1 are taken")                                                        \
    X(stride_not_told, "rows of `$2` lie #0 elements apart, which no argument tells; #1 is where rows follow each other")                 \
    X(stride_not_known, "rows of argument `$2` may lie further apart than the #1 elements that are taken; stage it")                      \
    X(operand_not_aligned, "`$2` lies #0 bytes past a multiple of #1")                                                                    \
    X(other_constant, "a constant of type $2 is #0, in the intrinsic #1")                                                                 \
    X(overwriting_every_step, "it overwrites `$2` in each of the #0 steps of the reduction")                                              \
    X(first_form_elsewhere, "its overwriting form `$2` blocks or runs on another engine")                                                 \
    X(overwriting_what_continues, "it overwrites `$2`, whose contents the stage continues")                                               \
    X(machine_without_memory, "it has no memory for the arguments of kernels")                                                            \
    X(part_without_name, "a part has no name")                                                                                            \
    X(two_parts_of_one_name, "two parts of one kind have the same name")                                                                  \
    X(several_stages, "its semantics are several stages")                                                                                 \
    X(parameter_in_semantics, "its semantics use a parameter or the value of an axis")                                                    \
    X(transfer_with_two_sources, "its semantics read two different elements")                                                             \
    X(transfer_that_rearranges, "semantics of a transfer index target and source by the same axes, once each")                            \
    X(operand_without_memory, "no reads, writes or updates says where an operand lives")                                                  \
    X(operand_not_in_semantics, "its semantics have no such operand")                                                                     \
    X(operand_declared_twice, "an operand is declared twice")                                                                             \
    X(result_only_read, "what it computes needs writes or updates, not reads")                                                            \
    X(input_written, "what it only reads needs reads")                                                                                    \
    X(operand_not_in_place,                                                                                                               \
      "an operand in place, `$1`, has the indices, type and memory of the result, and is the only one; the result writes")                \
    X(result_not_updated, "its semantics continue from what it computes; that needs updates")                                             \
    X(update_without_reduction, "updates needs semantics that reduce, such as +=")                                                        \
    X(update_with_a_start, "it updates an operand that its semantics start anew; declare that it writes it")                              \
    X(argument_without_operand, "an argument of its call names no operand or dimension that it has")                                      \
    X(limit_of_no_dimension, "a limit speaks of a dimension that its calls do not have")                                                  \
    X(registers_of_another_kind, "registers are equal parts of a capacity: no banks, no address, host_visible")                           \
    X(registers_by_address, "`$1` has no addresses: let a core copy, with on(core)")                                                      \
    X(registers_in_another_way, "registers of a C type are passed one at a time, in one blocking call, without strides")                  \
    X(copy_of_another_kind, "a core copies unchanged, and blocks: no engine, semantics or call")                                          \
    X(copy_out_of_sight, "the core that copies does not see `$1`")                                                                        \
    X(border_of_another_kind, "only a copy by a C function writes borders, and it is told their pads, and their value if that varies")    \
    X(argument_of_no_transfer, "an argument of its call, or a value that it uses, is none that a transfer has")                           \
    X(numbers_are_no_pointers, "its addresses are numbers: it holds no arguments, and host_visible must be false")                        \
    X(bank_of_broken_rows, "a bank does not begin and end at multiples of address_unit")                                                  \
    X(flags_in_the_number, "a flag takes a bit of the numbers, or of another flag")                                                       \
    X(flags_of_a_pointer, "flags need addresses that are numbers: `$1` has no address_unit")                                              \
    X(view_of_another_kind,                                                                                                               \
      "a view of `$1` has only a base and numbers of its own: one of them if `$1` has no address, neither if `$1` is a pool")             \
    X(counted_in_units, "only strides and bytes are counted in units")                                                                    \
    X(extent_of_a_fixed_axis, "the extent of `$1` is always the same: pass a literal, or say up_to")                                      \
    X(value_out_of_reach, "a value is one element that the core sees, of a call that is waited for: `$1` is not")                         \
    X(axis_not_in_semantics, "up_to names an axis that its semantics do not have")                                                        \
    X(cycles_of_a_wrong_axis, "per names an axis that its semantics do not have, or one twice")                                           \
    X(extent_not_told, "up_to leaves the extent of `$1` open, so argument::extent must be passed or configured")                          \
    X(step_shares_its_end, "the last step ends where another axis of it ends, too; order or split the loops otherwise")                   \
    X(set_call_of_another_kind, "the call that sets it takes each of its values once, and literals")                                      \
    X(configured_twice, "it uses `$1` twice")                                                                                             \
    X(other_number_of_settings, "it does not say what each value of `$1` must be")                                                        \
    X(symbol_of_two_signatures, "parts that share `$1` give it other arguments")                                                          \
    X(asynchronous_without_engine, "what is asynchronous needs an engine to be waited for")                                               \
    X(intrinsic_waited_for_by_transfer, "asynchronous intrinsics carry no tag: let `$1` complete by_channel or by_engine")                \
    X(tokens_to_itself, "jobs of one engine follow each other; tokens lead to another one")                                               \
    X(token_call_of_another_kind, "its push and pop take literals and, of several queues, the argument queue")                            \
    X(call_without_tag, "its engine waits by transfer, so its call needs the argument tag")                                               \
    X(tag_without_wait, "its call has the argument tag, but no wait takes one")                                                           \
    X(wait_of_another_kind, "its wait takes literals, channel, and tag when it waits by transfer, pending when by channel")               \
    X(call_without_channel, "`$1` has several channels, so its call needs the argument channel")                                          \
    X(wait_without_channel, "it has several channels, so its wait needs the argument channel")                                            \
    X(intrinsic_on_channels, "transfers alone are dealt out to channels, and `$1` has several: give it an engine of its own")             \
    X(tokens_of_channels, "tokens follow the jobs of one queue: `$1` has several channels")                                               \
    X(banks_of_unequal_size, "its capacity is no multiple of its banks")                                                                  \
    X(bank_that_is_not_there, "`$1` has #1 banks, from 0 on, and no bank #0: name one, or say .banks")                                    \
    X(distance_beyond_versions, "prefetch #0 needs more than the #1 versions that there are")                                             \
    X(versions_of_one_step, "#0 versions, but no loop goes from one to the next: only #1 is used")                                        \
    X(versions_of_a_blocking_transfer, "#0 versions, but transfer `$1` blocks until it is complete: nothing overlaps")                    \
    X(versions_of_what_overwrites_it, "#0 versions, but what overwrites it says how many its place has: #1")                              \
    X(versions_of_what_it_overwrites, "#0 versions, but it takes the place of `$1`: say it of that")                                      \
    X(versions_of_a_blocking_reader, "#0 versions, but no instruction of another engine reads it while the core goes on")                 \
    X(map_of_another_rank, "it takes #0 coordinates, the tensor has #1 dimensions")                                                       \
    X(indices_in_one_place, "indices #1 and #2 of dimension #0 have one place")                                                           \
    X(no_part_of_the_box, "what its map lists is no coordinate of the box, nor a quotient or remainder of one by a number")               \
    X(parts_that_overlap, "in dimension #0 a part in steps of #1 overlaps a part of #2 values: places stay empty")                        \
    X(part_of_unequal_parts, "a part of #0 values does not split by #1")                                                                  \
    X(two_separators, "it has #0 separators, but can have only one")                                                                      \
    X(blocks_without_banks, "its separator makes #0 blocks, `$1` has #1 banks")                                                           \
    X(read_before_written, "it is used before what fills it is complete")                                                                 \
    X(written_while_read, "it is overwritten while it is read or stored")                                                                 \
    X(written_while_written, "it is overwritten while it is loaded")                                                                      \
    X(other_contents, "it is used while it holds what another iteration loaded")                                                          \
    X(never_stored, "what is computed there is overwritten, or left, without being stored")                                               \
    X(outside_of_it, "a tile that ends early reaches past its end")                                                                       \
    X(never_loaded, "what no transfer has brought there is read")                                                                         \
    X(never_computed, "what nothing has computed is read or stored")                                                                      \
    X(distributed_reduction,                                                                                                              \
      "cores would add to one sum at a time: a loop that is reduced is not distributed; let one stage compute a "                         \
      "sum for each core, and another add them up")                                                                                       \
    X(distributed_twice, "a loop around it is distributed already")                                                                       \
    X(more_cores_than_there_are, "#0 cores are asked for, there are #1")                                                                  \
    X(kinds_out_of_order, "kinds of cores that share a loop follow each other as in the machine")                                         \
    X(other_cores, "its first core is #0, that of another loop of the kernel #1")                                                         \
    X(intrinsics_of_one_name, "two intrinsics of one name are for different cores, and differ only in cycles and in the C function")      \
    X(other_number_of_cores, "it takes #0 cores, another loop of the kernel takes #1")                                                    \
    X(copied_for_each_core, "each core needs one of its own, but memory `$2` is one for all")                                             \
    X(out_of_sight_of_cores, "all cores use it, but memory `$2` is per_core: what one core keeps there, no other sees")                   \
    X(engine_of_all_cores, "inside of it every core gives jobs to `$2`, which is one for all: it is not per_core, and has #0 channels")   \
    X(core_without_barrier, "a core meets data of another one, and neither a barrier nor a signal orders them")                           \
    X(line_of_two_cores,                                                                                                                  \
      "two cores write into one line of their caches, and one of them would write back old bytes of the other: let "                      \
      "each core have whole lines, or stage what it writes")                                                                              \
    X(line_not_cleaned, "what the core has written may be in its cache only: it is not cleaned before others look")                       \
    X(line_not_invalidated, "the cache of the core may have what was there before: it is not invalidated after others may have written")  \
    X(barrier_of_another_kind, "its barrier takes the status of the core that comes and, with it, core and literals only")                \
    X(bases_of_cores_of_another_kind, "bases for each core need per_core, an address of its own, and as many of them as there are cores") \
    X(cache_of_another_kind, "a cached memory has pointers for addresses, and an alignment that is a multiple of its cache_line")         \
    X(caches_of_another_kind, "its caches grow from the nearest on, and hold whole sets of lines, whose bytes are a power of two")        \
    X(behind_no_caches, "it is behind_caches, but has registers, or no core of the machine has `caches`")                                 \
    X(upkeep_of_another_kind, "the calls for its cache take source and bytes and, with them, core and literals only")                     \
    X(multicast_of_another_kind,                                                                                                          \
      "a multicast is a C function that reads what all of several cores see, and writes to a memory that is per_core")                    \
    X(parts_of_shares,                                                                                                                    \
      "each core has a part of what it touches, but its indices do not show that the parts lie apart: they are quotients "                \
      "and remainders of the shared loop")                                                                                                \
    X(multicast_for_one_core, "one core alone uses what it brings to all: no loop around that use is distributed")                        \
    X(multicast_in_a_share, "one call writes to all #0 cores, but inside of `$2` each of them would start it")                            \
    X(tiles_of_cores, "it brings one tile, and inside of `$2` those of the #2 cores lie #1 elements apart (dimension #0)")                \
    X(multicast_to_more_cores, "no argument `cores` tells it that #0 cores run the kernel, so it writes to all #1")                       \
    X(brought_to_one_core, "core 0 fills its own copy alone, and other cores read theirs")                                                \
    X(border_of_one_core, "core 0 would fill the border of its own copy alone, because no multicast fills a memory with it")              \
    X(barrier_of_some_cores, "a barrier stands in the share of a core, and one with a smaller share would never come to it")              \
    X(signal_of_another_kind,                                                                                                             \
      "its signals take core, peer, queue and literals: queue if there are several, peer if there are more than two cores")               \
    X(on_with_distribution, "a stage has a core of its own, and another shares its loops among all: a kernel does one of both")           \
    X(more_signals_than_fit, "#0 queues of signals lead from a core to another one, there are #1")                                        \
    X(more_versions_than_signals, "#0 versions are signalled before the first is taken, #1 signals fit into a queue")                     \
    X(signal_never_sent, "a core would wait for ever for a signal that no other core sends")                                              \
    X(signal_never_taken, "a signal is left when the kernel ends, and the next kernel would take it")                                     \
    X(bank_in_use, "its bank has one port and is used twice at a time")                                                                   \
    X(never_waited_for, "the kernel ends while it is in flight")                                                                          \
    X(too_many_in_flight, "more transfers are in flight than can be followed")                                                            \
    X(setting_not_made, "a call may find configuration `$1` set to something else than it needs")                                         \
    X(token_never_pushed, "`$2` would wait for ever for a token that nothing pushes")                                                     \
    X(token_never_popped, "a token is left when the kernel ends, and the next kernel would pop it")                                       \
    X(tokens_overflow, "#0 tokens are under way at a time, #1 fit")                                                                       \
    X(agent_of_two_machines, "agents of this name have two machines, or work in two ways")                                                \
    X(agent_of_two_ways, "it is said to run kernels by functions of its own, and to copy on an engine")                                   \
    X(agents_of_one_function, "agent `$2` begins or joins its kernels by the same C function")                                            \
    X(engine_that_blocks, "it is to copy on an engine that has no asynchronous transfer")                                                 \
    X(more_than_a_copy, "agent `$2` only copies, on engine `$3`; a kernel of it is one asynchronous transfer of that engine")             \
    X(copy_on_another_engine, "agent `$2` only copies on engine `$3`, and this transfer runs elsewhere")                                  \
    X(copy_that_blocks, "agent `$2` copies on engine `$3` while others run, but this transfer blocks until it is complete")               \
    X(memory_of_two_kinds, "agent `$2` describes this memory otherwise than another one does")                                            \
    X(program_without_kernels, "a program runs at least one kernel")                                                                      \
    X(two_kernels_of_one_name, "two kernels have this name")                                                                              \
    X(kernel_for_another_machine, "it is scheduled on another machine than that of its agent, `$2`")                                      \
    X(result_kept_by_kernel, "its result stays where store_in puts it, not where the program would: take it out, or write writes(...)")   \
    X(written_by_two_kernels, "two kernels write it")                                                                                     \
    X(written_in_parts_and_whole, "kernels write parts of it, and kernel `$1` does not say of which part it is, or the other way round")  \
    X(part_reshaped, "kernel `$2` reshapes it: then it takes all of it, and no part")                                                     \
    X(part_of_other_rank, "kernel `$2` has a part of it from #0 indices on; it has #1 dimensions")                                        \
    X(part_read_and_written, "kernel `$1` writes a part of it, and reads it")                                                             \
    X(parts_overlap, "kernels `$1` and `$2` write parts of it that overlap")                                                              \
    X(parts_leave_gaps, "the parts that kernels write are #0 of its #1 elements")                                                         \
    X(parts_in_two_memories, "kernel `$2` writes a part of it, to none of the memories that other parts of it are written to")            \
    X(memory_without_use, "the kernel cannot have it in all of these memories; its schedule says where, by reads and writes")             \
    X(behind_no_kernel, "no run(...) stands before it")                                                                                   \
    X(not_of_the_kernel, "kernel `$2` has no such operand")                                                                               \
    X(of_no_kernel, "no kernel of the program has it")                                                                                    \
    X(kernel_sees_no_memory, "kernel `$1` is to have it in `$2`, which agent `$3` does not see")                                          \
    X(agents_see_no_memory, "it is to be in `$1`, which no agent sees by this name")                                                      \
    X(two_kinds_of_tensor, "it is said to be two of input, output and constant")                                                          \
    X(computed_by_no_kernel, "no kernel computes the output")                                                                             \
    X(given_and_computed, "it is given by the program, and a kernel computes it")                                                         \
    X(read_without_producer, "kernel `$1` reads it, but nothing writes it, and it is neither input nor constant")                         \
    X(neither_read_nor_output, "a kernel computes it, but none reads it, and it is no output")                                            \
    X(constant_of_another_size, "#0 elements are given, kernels read #1")                                                                 \
    X(shape_not_written, "kernel `$2` writes #0 elements along a dimension where its shape has #1")                                       \
    X(shape_of_other_rank, "its shape is stated with #0 extents, and kernels have it with #1 dimensions")                                 \
    X(reshaped_without_all, "kernel `$2` reshapes it, and takes #0 of #1 elements: it must take all, from index 0 on")                    \
    X(rows_of_another_kind, "kernel `$2` needs rows of other strides, or another alignment, than a dense tensor has")                     \
    X(no_transfer_between, "no transfer of an agent leads from one to the other")                                                         \
    X(copies_are_forbidden, "without_copies() forbids a transfer between them")                                                           \
    X(pinned_where_it_is_given, "only what a kernel computes is pinned: input and constant name their memory")                            \
    X(place_not_given, "only inputs, outputs and pinned tensors are given a place, in a memory with a capacity")                          \
    X(placed_twice, "it is given two places")                                                                                             \
    X(bank_not_there, "its memory has no bank #0; it has #1")                                                                             \
    X(offset_of_no_bank, "its memory has #0 banks: in_bank says in which it lies")                                                        \
    X(place_outside, "its #0 bytes do not fit at offset #1, in #2")                                                                       \
    X(place_not_aligned, "offset #0 is no multiple of its alignment, #1")                                                                 \
    X(place_in_constants, "offset #0 lies in the constants, which take the first #1 bytes")                                               \
    X(places_overlap, "it and `$1` are there at one time, and their places overlap")                                                      \
    X(state_of_two_shapes, "`$1`, which a run leaves for the next one, has another type or shape")                                        \
    X(state_in_parts, "kernels write parts of `$1`, which a run leaves for the next one: let one kernel write all of it")                 \
    X(state_overwritten, "kernel `$2` writes `$1` over it while it reads other elements of it: compute another tensor, and copy that")    \
    X(state_read_too_late, "kernel `$2` is to read it after `$1` has overwritten it")                                                     \
    X(base_not_aligned, "its base address is not a multiple of the alignment that is needed")                                             \
    X(memories_overlap, "its addresses overlap those of another memory")

namespace tilewright::ir {

enum class rule : std::uint16_t {
    none,
#define TILEWRIGHT_RULE(name, text) name,
    TILEWRIGHT_RULES(TILEWRIGHT_RULE)
#undef TILEWRIGHT_RULE
        count  ///< how many there are
};

constexpr char const* text_of(rule broken) {
    constexpr char const* texts[] = {"",
#define TILEWRIGHT_TEXT(name, text) text,
                                     TILEWRIGHT_RULES(TILEWRIGHT_TEXT)
#undef TILEWRIGHT_TEXT
    };
    return texts[static_cast<int>(broken)];
}

}  // namespace tilewright::ir
