// SPDX-License-Identifier: Apache-2.0
// Registers the pass, and does what LLVM's C interface lacks. The only C++ file of the project.
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include "llvm-c/Core.h"

extern "C" {
bool instrument_module(LLVMModuleRef module);
LLVMValueRef plugin_copy_function(LLVMValueRef function);
bool plugin_has_prefix(LLVMValueRef function);
void plugin_set_prefix(LLVMValueRef function, LLVMValueRef data);
}

LLVMValueRef plugin_copy_function(LLVMValueRef function)
{
    llvm::ValueToValueMapTy map;

    return llvm::wrap(llvm::CloneFunction(llvm::unwrap<llvm::Function>(function), map));
}

bool plugin_has_prefix(LLVMValueRef function)
{
    auto *f = llvm::unwrap<llvm::Function>(function);

    return f->hasPrefixData() || f->hasPrologueData();
}

void plugin_set_prefix(LLVMValueRef function, LLVMValueRef data)
{
    llvm::unwrap<llvm::Function>(function)->setPrefixData(llvm::unwrap<llvm::Constant>(data));
}

namespace
{

struct InquestPass : llvm::PassInfoMixin<InquestPass> {
    llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &)
    {
        return instrument_module(llvm::wrap(&module)) ? llvm::PreservedAnalyses::none()
                                                      : llvm::PreservedAnalyses::all();
    }
    static bool isRequired()
    {
        return true;
    } // -O0 and optnone functions too
};

void registerPass(llvm::PassBuilder &builder)
{
    builder.registerPipelineStartEPCallback(
        [](llvm::ModulePassManager &manager, llvm::OptimizationLevel) {
            manager.addPass(InquestPass());
        });
}

} // namespace

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "inquest", "1", registerPass};
}
