// SPDX-License-Identifier: Apache-2.0
/*
 * Copies of blocks within one function.
 *
 *     struct value_map map = MAP_INIT;
 *     clone_blocks(module, function, blocks, count, &map);
 *     ... LLVMValueAsBasicBlock(clone_of(&map, LLVMBasicBlockAsValue(blocks[0]))) ...
 *     value_map_deinit(&map);
 *
 * The copies stand at the end of the function, in the order of the originals. Operands and
 * successors that were copied, or that the caller has put into the map before, are replaced; all
 * others stay, so that stack slots of an entry block that is not copied are shared and debug info
 * needs no copy.
 */
#ifndef INSTRUMENT_CLONE_H
#define INSTRUMENT_CLONE_H

#include "common/map.h"

#include <llvm-c/Core.h>

struct instrumented_module;

MAP_DEFINE_U64(value_map, LLVMValueRef);

void clone_blocks(const struct instrumented_module *module, LLVMValueRef function,
                  const LLVMBasicBlockRef *blocks, uint32_t count, struct value_map *map);
// The copy of a value, or the value itself.
LLVMValueRef clone_of(const struct value_map *map, LLVMValueRef value);
LLVMBasicBlockRef clone_of_block(const struct value_map *map, LLVMBasicBlockRef block);

// Stack slots of constant size, and stores of arguments into such.
bool clone_is_static_alloca(LLVMValueRef instruction);
bool clone_is_argument_store(LLVMValueRef instruction);

#endif
