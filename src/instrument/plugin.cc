// SPDX-License-Identifier: Apache-2.0
// Registers the pass; everything else is C. The only C++ file of the project.
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"

#include "llvm-c/Core.h"

extern "C" bool instrument_module(LLVMModuleRef module);

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
