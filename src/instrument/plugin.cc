// SPDX-License-Identifier: Apache-2.0
// Registers the pass, and does what LLVM's C interface lacks. The only C++ file of the project.
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LazyCallGraph.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/BuildLibCalls.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include "llvm-c/Core.h"

extern "C" {
bool instrument_module(LLVMModuleRef module);
void instrument_trim(LLVMModuleRef module);
void instrument_finish(LLVMModuleRef module);
bool instrument_is_for_lto(LLVMModuleRef module);
void plain_hold_locals(LLVMModuleRef module);
void plain_release_locals(LLVMModuleRef module);
bool plain_is_name(const char *name, size_t length);
bool plugin_can_copy_tables(LLVMValueRef function);
LLVMValueRef plugin_copy_function(LLVMValueRef function, const char *name);
bool plugin_has_prefix(LLVMValueRef function);
void plugin_set_prefix(LLVMValueRef function, LLVMValueRef data);
bool plugin_is_final(LLVMValueRef function);
bool plugin_infer_library(LLVMValueRef function);
bool plugin_is_library(LLVMValueRef function, const char *name, size_t length);
void plugin_keep_attributes(LLVMValueRef call);
void plugin_hold(LLVMValueRef function_or_call);
void plugin_keep_held(LLVMValueRef declaration);
void plugin_forget_addresses(LLVMValueRef function);
}

static const char DONE[] = "inquest.instrumented"; // module.c was at work

// ---- Copies

namespace
{

// Is `user`, or whatever uses it, nothing but instructions of the function?
bool isUsedIn(const llvm::User *user, const llvm::Function *function)
{
    if (const auto *instruction = llvm::dyn_cast<llvm::Instruction>(user))
        return instruction->getFunction() == function;
    if (!llvm::isa<llvm::Constant>(user) || llvm::isa<llvm::GlobalValue>(user))
        return false;
    for (const llvm::User *next : user->users())
        if (!isUsedIn(next, function))
            return false;
    return true;
}

// The variables whose initialisers the constant is part of.
void addVariables(const llvm::Constant *constant, llvm::SetVector<llvm::GlobalVariable *> &found,
                  bool &others, const llvm::Function *function)
{
    for (const llvm::User *user : constant->users()) {
        if (const auto *instruction = llvm::dyn_cast<llvm::Instruction>(user))
            others |= instruction->getFunction() != function;
        else if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(user))
            found.insert(const_cast<llvm::GlobalVariable *>(variable));
        else if (llvm::isa<llvm::GlobalValue>(user))
            others = true;
        else
            addVariables(llvm::cast<llvm::Constant>(user), found, others, function);
    }
}

// Tables of addresses of the function's blocks. False: somebody else knows such an address.
bool findTables(llvm::Function *function, llvm::SetVector<llvm::GlobalVariable *> &tables)
{
    bool others = false;

    for (llvm::BasicBlock &block : *function)
        if (block.hasAddressTaken())
            addVariables(llvm::BlockAddress::get(function, &block), tables, others, function);
    for (llvm::GlobalVariable *table : tables) {
        others |= !table->hasLocalLinkage();
        for (const llvm::User *user : table->users())
            others |= !isUsedIn(user, function);
    }
    return !others;
}

} // namespace

bool plugin_can_copy_tables(LLVMValueRef function)
{
    llvm::SetVector<llvm::GlobalVariable *> tables;

    return findTables(llvm::unwrap<llvm::Function>(function), tables);
}

LLVMValueRef plugin_copy_function(LLVMValueRef function, const char *name)
{
    llvm::Function *original = llvm::unwrap<llvm::Function>(function);
    llvm::SetVector<llvm::GlobalVariable *> tables;
    llvm::ValueToValueMapTy map;

    findTables(original, tables);
    for (llvm::GlobalVariable *table : tables) {
        auto *copy = new llvm::GlobalVariable(*original->getParent(), table->getValueType(),
                                              table->isConstant(), table->getLinkage(), nullptr,
                                              table->getName() + ".inquest.plain", table);
        copy->copyAttributesFrom(table);
        map[table] = copy;
    }
    llvm::Function *copy = llvm::CloneFunction(original, map);
    for (llvm::GlobalVariable *table : tables)
        llvm::cast<llvm::GlobalVariable>(map[table])
            ->setInitializer(llvm::MapValue(table->getInitializer(), map));
    copy->setName(name);
    if (copy->getSubprogram() && copy->getSubprogram() != original->getSubprogram())
        copy->getSubprogram()->replaceLinkageName(llvm::MDString::get(copy->getContext(), name));
    return llvm::wrap(copy);
}

// Something of its own between what is set here and the entry (words of KCFI and of the function
// sanitizer), an entry that is not where its address says (CFI's tables), or none where a jump
// could go?
bool plugin_has_prefix(LLVMValueRef function)
{
    auto *f = llvm::unwrap<llvm::Function>(function);

    return f->hasPrefixData() || f->hasPrologueData() ||
           f->hasFnAttribute("patchable-function-prefix") ||
           f->hasMetadata(llvm::LLVMContext::MD_kcfi_type) ||
           f->hasMetadata(llvm::LLVMContext::MD_func_sanitize) ||
           f->hasMetadata(llvm::LLVMContext::MD_type);
}

void plugin_set_prefix(LLVMValueRef function, LLVMValueRef data)
{
    llvm::unwrap<llvm::Function>(function)->setPrefixData(llvm::unwrap<llvm::Constant>(data));
}

bool plugin_is_final(LLVMValueRef function)
{
    auto *f = llvm::unwrap<llvm::Function>(function);

    return f->isDSOLocal() && !f->isInterposable();
}

// ---- Attributes

bool plugin_infer_library(LLVMValueRef function)
{
    auto *f = llvm::unwrap<llvm::Function>(function);
    llvm::TargetLibraryInfoImpl implementation(llvm::Triple(f->getParent()->getTargetTriple()));
    llvm::TargetLibraryInfo info(implementation);
    llvm::LibFunc known;

    if (!info.getLibFunc(*f, known) || !info.has(known))
        return false;
    llvm::inferNonMandatoryLibFuncAttrs(*f, info);
    return f->onlyReadsMemory() && f->willReturn() && f->doesNotThrow();
}

bool plugin_is_library(LLVMValueRef function, const char *name, size_t length)
{
    llvm::Module *module = llvm::unwrap<llvm::Function>(function)->getParent();
    llvm::TargetLibraryInfoImpl implementation(llvm::Triple(module->getTargetTriple()));
    llvm::LibFunc known;

    return implementation.getLibFunc(llvm::StringRef(name, length), known);
}

void plugin_keep_attributes(LLVMValueRef call)
{
    auto *c = llvm::unwrap<llvm::CallBase>(call);

    if (c->getMemoryEffects() != llvm::MemoryEffects::unknown())
        c->setMemoryEffects(c->getMemoryEffects());
    for (llvm::Attribute::AttrKind kind :
         {llvm::Attribute::WillReturn, llvm::Attribute::Speculatable})
        if (c->hasFnAttr(kind))
            c->addFnAttr(kind);
}

void plugin_hold(LLVMValueRef function_or_call)
{
    llvm::Value *value = llvm::unwrap(function_or_call);
    auto hold = [](auto *callee) {
        llvm::MemoryEffects effects = callee->getMemoryEffects();
        llvm::MemoryEffects wider = effects | llvm::MemoryEffects::inaccessibleMemOnly();

        if (effects != wider)
            callee->setMemoryEffects(wider);
        callee->removeFnAttr(llvm::Attribute::WillReturn);
        callee->removeFnAttr(llvm::Attribute::Speculatable);
    };

    if (auto *f = llvm::dyn_cast<llvm::Function>(value))
        hold(f);
    else
        hold(llvm::cast<llvm::CallBase>(value));
}

static const char HELD[] = "inquest.held"; // the declarations that plugin_keep_held() was told of

void plugin_keep_held(LLVMValueRef declaration)
{
    auto *f = llvm::unwrap<llvm::Function>(declaration);
    llvm::Metadata *entry = llvm::ValueAsMetadata::get(f);

    f->getParent()->getOrInsertNamedMetadata(HELD)->addOperand(
        llvm::MDNode::get(f->getContext(), entry));
}

// ---- Addresses of locals

static const char FORGETS[] = "inquest-forgets-addresses";

void plugin_forget_addresses(LLVMValueRef function)
{
    llvm::unwrap<llvm::Function>(function)->addFnAttr(FORGETS);
}

namespace
{

bool isComparison(const llvm::User *user)
{
    const auto *call = llvm::dyn_cast<llvm::CallInst>(user);
    const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;

    return callee && callee->getName().starts_with("__inquest_compare");
}

bool isAddress(const llvm::Value *value)
{
    const auto *argument = llvm::dyn_cast<llvm::Argument>(value);

    return argument ? argument->hasByValAttr() : llvm::isa<llvm::AllocaInst>(value);
}

// Comparisons that sampling makes with addresses of locals, or with what is computed of them.
llvm::SetVector<llvm::Instruction *> findComparisons(llvm::Function &function)
{
    llvm::SetVector<llvm::Value *> derived;
    llvm::SetVector<llvm::Instruction *> found;

    for (llvm::Argument &argument : function.args())
        if (isAddress(&argument))
            derived.insert(&argument);
    for (llvm::Instruction &i : llvm::instructions(function))
        if (isAddress(&i))
            derived.insert(&i);
    for (size_t next = 0; next < derived.size(); next++)
        for (llvm::User *user : derived[next]->users())
            if (isComparison(user))
                found.insert(llvm::cast<llvm::Instruction>(user));
            else if (llvm::isa<llvm::CastInst, llvm::BinaryOperator, llvm::FreezeInst,
                               llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst>(user))
                derived.insert(user);
    return found;
}

/*
 * A local whose address is given away stays in memory, and no call behind that is a tail call any
 * more. Where a loop may depend on one, such addresses are not compared. Whether a value is one
 * turns out when others have been promoted or inlined: this comes behind each pass that combines
 * instructions, the last time directly before LLVM looks for tail calls.
 */
struct ForgetAddresses : llvm::PassInfoMixin<ForgetAddresses> {
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &manager)
    {
        bool changed = false;

        if (!function.hasFnAttribute(FORGETS))
            return llvm::PreservedAnalyses::all();
        for (;;) {
            auto found = findComparisons(function);
            if (found.empty())
                break;
            llvm::SmallVector<llvm::WeakTrackingVH, 16> unused;
            for (llvm::Instruction *comparison : found) {
                unused.append(comparison->op_begin(), comparison->op_end());
                comparison->eraseFromParent();
            }
            llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
            manager.invalidate(function, llvm::PreservedAnalyses::none());
            llvm::SROAPass(llvm::SROAOptions::ModifyCFG).run(function, manager);
            manager.invalidate(function, llvm::PreservedAnalyses::none());
            changed = true;
        }
        return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
    }
};

// Where LLVM makes a call of a library function out of another one, in a plain copy, it assumes
// again what it knows of that function, and of all calls with it. This comes behind each pass that
// does so, before any other one looks.
struct HoldAgain : llvm::PassInfoMixin<HoldAgain> {
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &)
    {
        llvm::NamedMDNode *held = function.getParent()->getNamedMetadata(HELD);

        for (unsigned i = 0; held && i < held->getNumOperands(); i++)
            if (auto *f = llvm::mdconst::dyn_extract_or_null<llvm::Function>(
                    held->getOperand(i)->getOperand(0)))
                plugin_hold(llvm::wrap(f));
        return llvm::PreservedAnalyses::all();
    }
};

// ---- Loads and what uses them

// Of which node of the source: two locations name the same one if this is equal. Nothing: not told.
struct Node {
    const llvm::DISubprogram *function = nullptr;
    const llvm::DILocation *call = nullptr;
    unsigned number = 0;

    explicit Node(const llvm::Instruction &instruction)
    {
        const llvm::DILocation *location = instruction.getDebugLoc();

        if (!location || !location->getLine() || !location->getDiscriminator())
            return;
        function = location->getScope()->getSubprogram();
        call = location->getInlinedAt();
        number = location->getDiscriminator();
    }
    bool operator==(const Node &other) const
    {
        return number && number == other.number && function == other.function && call == other.call;
    }
};

// Variables are where they are; other addresses may be anywhere.
bool mayFault(const llvm::LoadInst &load)
{
    const llvm::Value *base = load.getPointerOperand()->stripInBoundsConstantOffsets();

    return !llvm::isa<llvm::AllocaInst, llvm::GlobalValue>(base);
}

/*
 * The code generator joins a load with what uses it (`cmp [rdi], 4`), and the whole has one place:
 * that of the use. Where that is of another node, a fault would be told there, which control has
 * not come to. So the value goes through a register there: assembly without any code stands between
 * load and use, or between what was made of it and the store that puts it back.
 *
 * The linker's optimiser (`-flto`) has no such pass. It inlines what is called here, and unrolls
 * what has come to be constant. So before it all that leaves the node of a load goes through a
 * register, by whatever way: what is then joined at the link are uses in that node.
 */
struct KeepLoadsApart : llvm::PassInfoMixin<KeepLoadsApart> {
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &manager)
    {
        const llvm::DISubprogram *debug = function.getSubprogram();
        llvm::StringRef name = debug ? debug->getLinkageName() : "";
        llvm::SmallVector<llvm::LoadInst *, 16> found;
        bool changed = false;

        if (function.hasOptNone() || !debug || plain_is_name(name.data(), name.size()))
            return llvm::PreservedAnalyses::all();
        for (llvm::Instruction &i : llvm::instructions(function))
            if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
                if (mayFault(*load))
                    found.push_back(load);
        const auto &target = manager.getResult<llvm::TargetIRAnalysis>(function);
        bool linked = instrument_is_for_lto(llvm::wrap(function.getParent()));
        for (llvm::LoadInst *load : found)
            if (linked)
                changed |= hideLeaving(*load, target);
            else if (llvm::Use *use = findUse(*load))
                changed |= hide(*use, target);
        if (!changed)
            return llvm::PreservedAnalyses::all();
        llvm::PreservedAnalyses kept;
        kept.preserveSet<llvm::CFGAnalyses>();
        return kept;
    }
    static bool isRequired()
    {
        return true;
    }

  private:
    // The first use in another node that the load may be joined with: only values with one use are,
    // through conversions; and a store, which writes back what was made of it.
    static llvm::Use *findUse(llvm::LoadInst &load)
    {
        Node node(load);
        llvm::Instruction *value = &load;
        bool computed = false;

        while (value->hasOneUse()) {
            llvm::Use *use = &*value->use_begin();
            auto *user = llvm::cast<llvm::Instruction>(use->getUser());

            if (llvm::isa<llvm::PHINode>(user))
                return nullptr;
            if (!(Node(*user) == node))
                return !computed || llvm::isa<llvm::StoreInst>(user) ? use : nullptr;
            if (llvm::isa<llvm::CmpInst>(user))
                return !computed && isPartOfCondition(*user) ? use : nullptr;
            if (!llvm::isa<llvm::CastInst>(user)) {
                if (computed || !isComputation(*user))
                    return nullptr;
                computed = true;
            }
            value = user;
        }
        return nullptr;
    }

    // Before the link: the same for all uses that are of other nodes now or may come to be.
    static bool hideLeaving(llvm::LoadInst &load, const llvm::TargetTransformInfo &target)
    {
        Node node(load);
        llvm::SmallVector<std::pair<llvm::Instruction *, bool>, 4> values = {{&load, false}};
        bool changed = false;

        for (size_t next = 0; next < values.size(); next++) {
            auto [value, computed] = values[next];
            llvm::SmallVector<llvm::Use *, 8> leaving;

            for (llvm::Use &use : value->uses()) {
                auto *user = llvm::cast<llvm::Instruction>(use.getUser());

                if (leaves(use, node, computed))
                    leaving.push_back(&use);
                else if (Node(*user) == node && llvm::isa<llvm::CastInst>(user))
                    values.push_back({user, computed});
                else if (Node(*user) == node && !computed && isComputation(*user))
                    values.push_back({user, true});
            }
            changed |= !leaving.empty() && hideAll(*value, leaving, target);
        }
        return changed;
    }

    // Is that use of a load, or of what was `computed` of one, anywhere but in its node, or may it
    // come to be?
    static bool leaves(const llvm::Use &use, const Node &node, bool computed)
    {
        const auto *user = llvm::cast<llvm::Instruction>(use.getUser());

        if (llvm::isa<llvm::PHINode, llvm::ReturnInst>(user) || isArgument(use))
            return true;
        if (!(Node(*user) == node))
            return !computed || llvm::isa<llvm::StoreInst>(user);
        return !computed && llvm::isa<llvm::CmpInst>(user) &&
               !(user->hasOneUse() && llvm::isa<llvm::BranchInst>(user->user_back()));
    }

    static bool isArgument(const llvm::Use &use)
    {
        const auto *call = llvm::dyn_cast<llvm::CallBase>(use.getUser());

        return call && call->isArgOperand(&use) && !call->isInlineAsm() &&
               !llvm::isa<llvm::IntrinsicInst>(call);
    }

    static bool isComputation(const llvm::Instruction &instruction)
    {
        return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator>(instruction);
    }

    // Of a condition that has several parts each becomes a branch, with a comparison of its own,
    // and all of them have the place where the condition is decided by.
    static bool isPartOfCondition(const llvm::Instruction &comparison)
    {
        return comparison.hasOneUse() &&
               llvm::isa<llvm::BinaryOperator, llvm::SelectInst>(comparison.user_back()) &&
               comparison.user_back()->getType()->isIntegerTy(1);
    }

    // A truth value has no register of its own: what it was converted from has.
    static bool isTruth(const llvm::Instruction &value, const llvm::TargetTransformInfo &target)
    {
        return llvm::isa<llvm::CastInst>(value) && value.getType()->isIntegerTy() &&
               !target.isTypeLegal(value.getType()) &&
               llvm::isa<llvm::Instruction>(value.getOperand(0));
    }

    static bool hide(llvm::Use &use, const llvm::TargetTransformInfo &target)
    {
        auto *value = llvm::cast<llvm::Instruction>(use.get());

        if (isTruth(*value, target))
            return hide(value->getOperandUse(0), target);
        llvm::Value *hidden = pass(*value, *llvm::cast<llvm::Instruction>(use.getUser()), target);
        if (hidden)
            use.set(hidden);
        return hidden;
    }

    static bool hideAll(llvm::Instruction &value, llvm::ArrayRef<llvm::Use *> uses,
                        const llvm::TargetTransformInfo &target)
    {
        if (isTruth(value, target))
            return hide(value.getOperandUse(0), target);
        llvm::Value *hidden = pass(value, *value.getNextNode(), target);
        for (llvm::Use *use : uses)
            if (hidden)
                use->set(hidden);
        return hidden;
    }

    // The same value behind a register, right before `at`. nullptr: there is none for its type.
    static llvm::Value *pass(llvm::Instruction &value, llvm::Instruction &at,
                             const llvm::TargetTransformInfo &target)
    {
        llvm::IRBuilder<> builder(&at);
        llvm::Type *type = value.getType();
        bool general = type->isIntOrPtrTy();

        builder.SetCurrentDebugLocation(value.getDebugLoc());
        // kinds of numbers that the processor has no registers for
        if (!target.isTypeLegal(type) && type->isFloatingPointTy() &&
            type->getPrimitiveSizeInBits() <= 64) {
            type = builder.getIntNTy(type->getPrimitiveSizeInBits());
            general = true;
        }
        if (!target.isTypeLegal(type) || type->isX86_FP80Ty())
            return nullptr;
        auto *signature = llvm::FunctionType::get(type, {type}, false);
        auto *code = llvm::InlineAsm::get(signature, "", general ? "=r,0" : "=x,0", false);
        llvm::CallInst *call = builder.CreateCall(code, {builder.CreateBitCast(&value, type)});

        call->setDoesNotThrow();
        call->setDoesNotAccessMemory();
        return builder.CreateBitCast(call, value.getType());
    }
};

// ---- Accesses around branches

/*
 * Where several ways join, or part, the optimiser makes one of the instructions that they have in
 * common, and what is left names none of their nodes. So while it looks for such, assembly without
 * any code stands between the join and what is read or written before it, and between the fork and
 * what is read or written behind it.
 */
const char BARRIER[] = "# reads and writes stay";

bool isBarrier(const llvm::Instruction &instruction)
{
    const auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const auto *code = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;

    return code && code->getAsmString() == BARRIER;
}

void addBarrier(llvm::BasicBlock::iterator at)
{
    llvm::FunctionType *type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(at->getContext()), {}, false);
    llvm::CallInst *call =
        llvm::CallInst::Create(type, llvm::InlineAsm::get(type, BARRIER, "", true), "", at);

    call->setDoesNotThrow();
    call->addFnAttr(llvm::Attribute::NoMerge);
}

// Does the block read or write what may not be there?
bool accessesMemory(const llvm::BasicBlock &block)
{
    for (const llvm::Instruction &i : block)
        if (const llvm::Value *address = llvm::getLoadStorePointerOperand(&i))
            if (!i.isVolatile() && !llvm::isa<llvm::AllocaInst, llvm::GlobalValue>(
                                       address->stripInBoundsConstantOffsets()))
                return true;
    return false;
}

// Of blocks on several ways those that do, if there is more than one.
template <typename Blocks> llvm::SmallSetVector<llvm::BasicBlock *, 8> accessing(Blocks &&blocks)
{
    llvm::SmallSetVector<llvm::BasicBlock *, 8> found;

    for (llvm::BasicBlock *block : blocks)
        if (accessesMemory(*block))
            found.insert(block);
    if (found.size() < 2)
        found.clear();
    return found;
}

void holdAccesses(llvm::Function &function)
{
    if (function.hasOptNone() || !function.getSubprogram())
        return;
    for (llvm::BasicBlock &block : function) {
        for (llvm::BasicBlock *before : accessing(llvm::predecessors(&block)))
            addBarrier(before->getTerminator()->getIterator());
        for (llvm::BasicBlock *next : accessing(llvm::successors(&block)))
            if (next->getSinglePredecessor() && !next->isEHPad())
                addBarrier(next->getFirstInsertionPt());
    }
}

void releaseAccesses(llvm::Function &function)
{
    for (llvm::BasicBlock &block : function)
        for (llvm::Instruction &i : llvm::make_early_inc_range(block))
            if (isBarrier(i))
                i.eraseFromParent();
}

// ---- Results of `asm goto`

/*
 * Where the register allocator copies a result of `asm goto` to another register, it does so behind
 * the assembly: control that leaves by one of its labels goes past the copy. Plain code is as good
 * as never allocated so; with stores around it may be. So each result is put into memory on every
 * way out, and taken from there.
 */
struct DemoteJumpResults : llvm::PassInfoMixin<DemoteJumpResults> {
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &)
    {
        llvm::SmallVector<llvm::CallBrInst *, 4> found;

        for (llvm::Instruction &i : llvm::instructions(function))
            if (auto *jump = llvm::dyn_cast<llvm::CallBrInst>(&i))
                if (!jump->use_empty())
                    found.push_back(jump);
        for (llvm::CallBrInst *jump : found)
            demote(*jump);
        return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
    }
    static bool isRequired()
    {
        return true;
    }

  private:
    static void demote(llvm::CallBrInst &jump)
    {
        llvm::Function &function = *jump.getFunction();
        llvm::CriticalEdgeSplittingOptions options;
        llvm::SmallVector<llvm::Use *, 8> uses;

        options.setMergeIdenticalEdges();
        for (unsigned i = 0; i < jump.getNumSuccessors(); i++)
            if (llvm::isCriticalEdge(&jump, i, true))
                llvm::SplitKnownCriticalEdge(&jump, i, options);
        for (llvm::Use &use : jump.uses())
            uses.push_back(&use);
        llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
        llvm::AllocaInst *slot = builder.CreateAlloca(jump.getType());
        for (llvm::Use *use : uses) {
            auto *user = llvm::cast<llvm::Instruction>(use->getUser());
            auto *phi = llvm::dyn_cast<llvm::PHINode>(user);

            builder.SetInsertPoint(phi ? phi->getIncomingBlock(*use)->getTerminator() : user);
            use->set(builder.CreateLoad(jump.getType(), slot, true));
        }
        llvm::SmallPtrSet<llvm::BasicBlock *, 4> seen;
        for (llvm::BasicBlock *next : llvm::successors(&jump))
            if (seen.insert(next).second) {
                builder.SetInsertPoint(next, next->getFirstInsertionPt());
                builder.CreateStore(&jump, slot, true);
            }
    }
};

// A step of ours; also at -O0, and for functions that are not to be optimised.
struct Step : llvm::PassInfoMixin<Step> {
    bool (*step)(LLVMModuleRef);

    explicit Step(bool (*function)(LLVMModuleRef)) : step(function)
    {
    }
    llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &)
    {
        return step(llvm::wrap(&module)) ? llvm::PreservedAnalyses::none()
                                         : llvm::PreservedAnalyses::all();
    }
    static bool isRequired()
    {
        return true;
    }
};

bool trim(LLVMModuleRef module)
{
    instrument_trim(module);
    return true;
}

bool finish(LLVMModuleRef module)
{
    instrument_finish(module);
    if (llvm::NamedMDNode *held = llvm::unwrap(module)->getNamedMetadata(HELD))
        held->eraseFromParent();
    return true;
}

// The pass that inlines, and all that comes with it.
bool isInliner(llvm::StringRef pass)
{
    return pass == "ModuleInlinerWrapperPass";
}

// The passes that make one of what several ways have in common.
bool isMerger(llvm::StringRef pass)
{
    return pass == "SimplifyCFGPass" || pass == "InstCombinePass";
}

llvm::Module *moduleOf(llvm::Any ir)
{
    const auto *module = llvm::any_cast<const llvm::Module *>(&ir);

    return module ? const_cast<llvm::Module *>(*module) : nullptr;
}

llvm::Function *functionOf(llvm::Any ir)
{
    const auto *function = llvm::any_cast<const llvm::Function *>(&ir);

    return function ? const_cast<llvm::Function *>(*function) : nullptr;
}

// While a function and its plain copy are two, their arguments are the same (plain.c). And what is
// loaded stays in the function that loads it: where a fault is told.
void registerHooks(llvm::PassInstrumentationCallbacks &callbacks)
{
    callbacks.registerBeforeNonSkippedPassCallback([](llvm::StringRef pass, llvm::Any ir) {
        if (llvm::Module *module = isInliner(pass) ? moduleOf(ir) : nullptr)
            plain_release_locals(llvm::wrap(module));
        if (llvm::Function *function = isMerger(pass) ? functionOf(ir) : nullptr)
            holdAccesses(*function);
    });
    callbacks.registerAfterPassCallback(
        [](llvm::StringRef pass, llvm::Any ir, const llvm::PreservedAnalyses &) {
            if (llvm::Module *module = isInliner(pass) ? moduleOf(ir) : nullptr)
                plain_hold_locals(llvm::wrap(module));
            if (llvm::Function *function = isMerger(pass) ? functionOf(ir) : nullptr)
                releaseAccesses(*function);
        });
    callbacks.registerShouldRunOptionalPassCallback([](llvm::StringRef pass, llvm::Any ir) {
        const auto *component = llvm::any_cast<const llvm::LazyCallGraph::SCC *>(&ir);

        return pass != "ArgumentPromotionPass" || !component ||
               !(*component)->begin()->getFunction().getParent()->getNamedMetadata(DONE);
    });
}

void registerSteps(llvm::PassBuilder &builder)
{
    if (llvm::PassInstrumentationCallbacks *callbacks = builder.getPassInstrumentationCallbacks())
        registerHooks(*callbacks);
    builder.registerPipelineStartEPCallback(
        [](llvm::ModulePassManager &manager, llvm::OptimizationLevel) {
            manager.addPass(Step(instrument_module));
        });
    builder.registerPeepholeEPCallback(
        [](llvm::FunctionPassManager &manager, llvm::OptimizationLevel) {
            manager.addPass(HoldAgain());
            manager.addPass(ForgetAddresses());
        });
    builder.registerOptimizerEarlyEPCallback(
        [](llvm::ModulePassManager &manager, llvm::OptimizationLevel level) {
            if (level != llvm::OptimizationLevel::O0)
                manager.addPass(Step(trim));
        });
    builder.registerOptimizerLastEPCallback(
        [](llvm::ModulePassManager &manager, llvm::OptimizationLevel) {
            manager.addPass(Step(finish));
            manager.addPass(llvm::createModuleToFunctionPassAdaptor(DemoteJumpResults()));
            manager.addPass(llvm::createModuleToFunctionPassAdaptor(KeepLoadsApart()));
        });
}

} // namespace

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "inquest", "1", registerSteps};
}
