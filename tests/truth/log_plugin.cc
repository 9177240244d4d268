// SPDX-License-Identifier: Apache-2.0
/*
 * The oracle's own look at a module, as passes for opt-19. Nothing here is shared with src/: nodes
 * are split once more, after the definition alone (a block, cut behind each call that is neither an
 * intrinsic nor inline assembly).
 *
 *   truth-table   writes functions, nodes and edges as text to $TRUTH_TABLE
 *   truth-log     makes the module log each activation, node and call (log_runtime.c);
 *                 $TRUTH_MODULE is its number in the log
 *   truth-inject  makes the module able to fail on demand (inject_runtime.c): some loads and stores
 *                 may get a bad address, some calls of the C library a bad pointer, some calls may
 * be preceded by an abort or a trap. $TRUTH_RATE: one place of how many. The places go to
 *                 $TRUTH_PLACES. Run before inquest-cc sees the module.
 *   truth-own     makes bodies that the optimiser may look into run, instead of the library's
 *
 * The table, one item a line, fields separated by tabs:
 *   function INDEX NAME LINKAGE SOURCE-NAME
 *   node INDEX KIND CALLEE FLAGS SUCCESSOR...     KIND: "call" or "-"; CALLEE: name, "*" or "-"
 * FLAGS: "t" the call returns twice, "l" it must be a tail call, "i" is an invoke, "r" the node
 * leaves the function, "n" the callee does not return.
 */
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cstdlib>
#include <string>
#include <vector>

using namespace llvm;

namespace
{

struct Node {
    Instruction *first, *last;
    CallBase *call; // or null
};

bool endsNode(const Instruction &i)
{
    auto *call = dyn_cast<CallBase>(&i);
    if (!call || call->isInlineAsm())
        return false;
    auto *callee = dyn_cast<Function>(call->getCalledOperand());
    // what macros of the C library get at variables by is no call of the source
    static const StringSet<> accessors{"__ctype_b_loc", "__ctype_tolower_loc",
                                       "__ctype_toupper_loc", "__errno_location"};
    return !callee || !(callee->isIntrinsic() ||
                        (callee->isDeclaration() && accessors.contains(callee->getName())));
}

std::vector<Node> nodesOf(Function &f, DenseMap<BasicBlock *, unsigned> &firstNode)
{
    std::vector<Node> nodes;
    for (BasicBlock &block : f) {
        firstNode[&block] = nodes.size();
        Instruction *first = &block.front();
        for (Instruction &i : block)
            if (endsNode(i) || i.isTerminator()) {
                nodes.push_back({first, &i, endsNode(i) ? cast<CallBase>(&i) : nullptr});
                first = i.getNextNode();
            }
    }
    return nodes;
}

unsigned number(const char *variable, unsigned missing)
{
    const char *text = getenv(variable);
    return text ? (unsigned)strtoul(text, nullptr, 10) : missing;
}

std::string calleeName(const Node &node)
{
    if (!node.call)
        return "-";
    auto *callee = dyn_cast<Function>(node.call->getCalledOperand()->stripPointerCasts());
    return callee ? callee->getName().str() : "*";
}

std::string flagsOf(const Node &node)
{
    std::string flags;
    auto *call = dyn_cast_or_null<CallInst>(node.call);
    if (call && (call->hasFnAttr(Attribute::ReturnsTwice)))
        flags += 't';
    if (call && call->isMustTailCall())
        flags += 'l';
    if (node.call && isa<InvokeInst>(node.call))
        flags += 'i';
    if (isa<ReturnInst>(node.last) || isa<ResumeInst>(node.last))
        flags += 'r';
    if (node.call && node.call->doesNotReturn())
        flags += 'n';
    return flags.empty() ? "-" : flags;
}

void writeTable(Module &module, raw_ostream &out)
{
    unsigned index = 0;
    for (Function &f : module) {
        if (f.isDeclaration())
            continue;
        DenseMap<BasicBlock *, unsigned> firstNode;
        std::vector<Node> nodes = nodesOf(f, firstNode);
        const char *linkage = f.hasFnAttribute(Attribute::Naked)  ? "naked" // cannot log
                              : f.hasAvailableExternallyLinkage() ? "available"
                              : f.isWeakForLinker()               ? "weak"
                              : f.hasLocalLinkage()               ? "local"
                                                                  : "external";
        DISubprogram *subprogram = f.getSubprogram();
        out << "function\t" << index++ << '\t' << f.getName() << '\t' << linkage << '\t'
            << (subprogram ? subprogram->getName() : "-") << '\n';
        for (unsigned n = 0; n < nodes.size(); n++) {
            out << "node\t" << n << '\t' << (nodes[n].call ? "call" : "-") << '\t'
                << calleeName(nodes[n]) << '\t' << flagsOf(nodes[n]);
            if (!nodes[n].last->isTerminator())
                out << '\t' << n + 1;
            else
                for (BasicBlock *successor : successors(nodes[n].last->getParent()))
                    out << '\t' << firstNode[successor];
            out << '\n';
        }
    }
}

struct TablePass : PassInfoMixin<TablePass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        std::error_code error;
        const char *file = getenv("TRUTH_TABLE");
        raw_fd_ostream out(file ? file : "-", error);
        if (error)
            report_fatal_error("truth-table: cannot write");
        writeTable(module, out);
        return PreservedAnalyses::all();
    }
    static bool isRequired()
    {
        return true;
    }
};

struct Logger {
    FunctionCallee enter, node, call, leave;

    explicit Logger(Module &module)
    {
        LLVMContext &c = module.getContext();
        Type *u32 = Type::getInt32Ty(c), *none = Type::getVoidTy(c);
        enter = module.getOrInsertFunction("__truth_enter", u32, u32, u32);
        node = module.getOrInsertFunction("__truth_node", none, u32, u32);
        call = module.getOrInsertFunction("__truth_call", none, u32, u32);
        leave = module.getOrInsertFunction("__truth_leave", none, u32);
    }
};

// No location: these calls are inside functions that have debug info.
CallInst *add(IRBuilder<> &builder, FunctionCallee callee, ArrayRef<Value *> arguments,
              Instruction *near)
{
    CallInst *call = builder.CreateCall(callee, arguments);
    call->setDoesNotThrow();
    if (DISubprogram *subprogram = near->getFunction()->getSubprogram())
        call->setDebugLoc(DILocation::get(near->getContext(), 0, 0, subprogram));
    return call;
}

// Null where nothing may stand: between a call that must be a tail call and its return.
Instruction *startOf(const Node &node)
{
    BasicBlock *block = node.first->getParent();
    auto *before = dyn_cast_or_null<CallInst>(node.first->getPrevNode());
    if (before && before->isMustTailCall())
        return nullptr;
    if (&block->front() != node.first)
        return node.first;
    BasicBlock::iterator at = block->getFirstInsertionPt();
    return at == block->end() ? nullptr : &*at;
}

// Where the activation ends: before the return, or before the call that replaces it.
Instruction *leavePoint(Instruction *last)
{
    if (isa<ResumeInst>(last))
        return last;
    if (!isa<ReturnInst>(last))
        return nullptr;
    CallInst *must = last->getParent()->getTerminatingMustTailCall();
    return must ? must : last;
}

void logFunction(Function &f, unsigned module, unsigned index, const Logger &log)
{
    DenseMap<BasicBlock *, unsigned> firstNode;
    std::vector<Node> nodes = nodesOf(f, firstNode);
    std::vector<Instruction *> starts;
    for (const Node &node : nodes)
        starts.push_back(startOf(node));

    IRBuilder<> builder(starts[0]);
    Value *activation =
        add(builder, log.enter, {builder.getInt32(module), builder.getInt32(index)}, starts[0]);
    for (unsigned n = 0; n < nodes.size(); n++) {
        if (starts[n]) {
            builder.SetInsertPoint(starts[n]);
            add(builder, log.node, {activation, builder.getInt32(n)}, starts[n]);
        }
        if (nodes[n].call) {
            builder.SetInsertPoint(nodes[n].call);
            add(builder, log.call, {activation, builder.getInt32(n)}, nodes[n].call);
        }
        if (Instruction *leave = leavePoint(nodes[n].last)) {
            builder.SetInsertPoint(leave);
            add(builder, log.leave, {activation}, leave);
        }
    }
}

// Bodies that the optimiser may look into but that are not emitted.
void ownBody(Function &f)
{
    if (f.hasAvailableExternallyLinkage())
        f.setLinkage(GlobalValue::InternalLinkage);
}

struct OwnPass : PassInfoMixin<OwnPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        for (Function &f : module)
            ownBody(f);
        return PreservedAnalyses::none();
    }
    static bool isRequired()
    {
        return true;
    }
};

struct LogPass : PassInfoMixin<LogPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        unsigned number = ::number("TRUTH_MODULE", 0), index = 0;
        std::vector<Function *> functions;
        for (Function &f : module)
            if (!f.isDeclaration())
                functions.push_back(&f);
        Logger log(module);
        for (Function *f : functions) {
            if (!f->hasFnAttribute(Attribute::Naked))
                logFunction(*f, number, index, log);
            index++;
            ownBody(*f);
        }
        return PreservedAnalyses::none();
    }
    static bool isRequired()
    {
        return true;
    }
};

// A small generator, the same everywhere.
struct Chance {
    uint64_t state;
    bool oneOf(unsigned rate)
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (state >> 33) % rate == 0;
    }
};

// --counter == 0
Value *due(IRBuilder<> &builder, Value *counter)
{
    Type *type = builder.getInt64Ty();
    Value *left = builder.CreateSub(builder.CreateLoad(type, counter, true), builder.getInt64(1));
    builder.CreateStore(left, counter, true);
    return builder.CreateICmpEQ(left, builder.getInt64(0));
}

void injectFault(Instruction *access, unsigned operand, Value *counter, Value *bad)
{
    IRBuilder<> builder(access);
    Value *now = due(builder, counter);
    Value *address = builder.CreateLoad(builder.getPtrTy(), bad, true);
    access->setOperand(operand, builder.CreateSelect(now, address, access->getOperand(operand)));
}

void injectAbort(CallBase *call, Value *counter, unsigned kind)
{
    IRBuilder<> builder(call);
    Module *module = call->getModule();
    Instruction *end = SplitBlockAndInsertIfThen(due(builder, counter), call, true);
    DebugLoc location = call->getDebugLoc();
    builder.SetInsertPoint(end);
    builder.SetCurrentDebugLocation(location);
    if (kind == 0) {
        builder.CreateIntrinsic(Intrinsic::trap, {}, {});
        return;
    }
    const char *name = kind % 2 ? "abort" : "__truth_fail";
    FunctionCallee callee = module->getOrInsertFunction(name, builder.getVoidTy());
    builder.CreateCall(callee)->setDoesNotReturn();
}

const Value *addressOf(const Instruction &i)
{
    auto *load = dyn_cast<LoadInst>(&i);
    auto *store = dyn_cast<StoreInst>(&i);
    if (!(load && load->isSimple()) && !(store && store->isSimple()))
        return nullptr;
    const Value *pointer = load ? load->getPointerOperand() : store->getPointerOperand();
    return pointer->getType()->getPointerAddressSpace() == 0 ? pointer : nullptr;
}

bool canFault(const Instruction &i)
{
    const Value *pointer = addressOf(i);
    return pointer && !isa<AllocaInst>(pointer->stripInBoundsOffsets()) &&
           !isa<GlobalValue>(pointer);
}

// A variable by its name, or a field of it: what is known not to fail.
bool isGlobalAccess(const Instruction &i)
{
    const Value *pointer = addressOf(i);
    auto *variable =
        pointer ? dyn_cast<GlobalVariable>(pointer->stripInBoundsConstantOffsets()) : nullptr;
    return variable && !variable->isThreadLocal();
}

// Functions of the C library that follow their first pointer.
bool isLibraryCall(const Instruction &i)
{
    auto *call = dyn_cast<CallInst>(&i);
    auto *callee = call ? call->getCalledFunction() : nullptr;
    static const StringSet<> known{"strlen", "strcmp",  "strncmp", "strchr",  "strrchr", "strstr",
                                   "memcmp", "memchr",  "strcpy",  "strncpy", "strcat",  "memcpy",
                                   "memset", "memmove", "strdup",  "atoi",    "strtol",  "fputs",
                                   "puts",   "strspn",  "strcspn", "fgets"};
    return callee && !call->isMustTailCall() && call->arg_size() &&
           call->getArgOperand(0)->getType()->isPointerTy() &&
           (isa<AnyMemIntrinsic>(call) ||
            (callee->isDeclaration() && known.contains(callee->getName())));
}

// What may fail, in the order of the module.
struct Places {
    std::vector<Instruction *> accesses, globals, library;
    std::vector<CallBase *> calls;

    Places(Module &module, unsigned rate)
    {
        Chance chance{number("TRUTH_SEED", 1)}, more{number("TRUTH_SEED", 1) + 77};
        for (Function &f : module)
            if (!f.hasFnAttribute(Attribute::Naked))
                for (BasicBlock &block : f)
                    for (Instruction &i : block) {
                        if (canFault(i) && chance.oneOf(rate))
                            accesses.push_back(&i);
                        else if (endsNode(i) && isa<CallInst>(i) && chance.oneOf(rate) &&
                                 !cast<CallInst>(i).isMustTailCall())
                            calls.push_back(cast<CallBase>(&i));
                        else if (isGlobalAccess(i) && more.oneOf(rate))
                            globals.push_back(&i);
                        else if (isLibraryCall(i) && more.oneOf((rate + 1) / 2))
                            library.push_back(&i);
                    }
    }

    void write(raw_ostream &out) const
    {
        auto list = [&](const char *kind, const Instruction *i) {
            const DebugLoc &at = i->getDebugLoc();
            out << kind << ' ' << i->getFunction()->getName() << ' ' << (at ? at.getLine() : 0)
                << ':' << (at ? at.getCol() : 0) << '\n';
        };
        for (const Instruction *i : accesses)
            list("fault", i);
        for (const Instruction *i : globals)
            list("global", i);
        for (const Instruction *i : library)
            list("library", i);
        for (const Instruction *i : calls)
            list("abort", i);
    }
};

struct InjectPass : PassInfoMixin<InjectPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        Type *u64 = Type::getInt64Ty(module.getContext());
        auto counter = [&](const char *name) { return module.getOrInsertGlobal(name, u64); };
        Places places(module, number("TRUTH_RATE", 4));
        Value *bad = module.getOrInsertGlobal("__truth_bad_address",
                                              PointerType::get(module.getContext(), 0));
        if (const char *file = getenv("TRUTH_PLACES")) {
            std::error_code error;
            raw_fd_ostream out(file, error);
            places.write(out);
        }
        for (Instruction *i : places.accesses)
            injectFault(i, isa<LoadInst>(i) ? 0 : 1, counter("__truth_fault_countdown"), bad);
        for (Instruction *i : places.globals)
            injectFault(i, isa<LoadInst>(i) ? 0 : 1, counter("__truth_global_countdown"), bad);
        for (Instruction *i : places.library)
            injectFault(i, 0, counter("__truth_library_countdown"), bad);
        unsigned kind = 0;
        for (CallBase *call : places.calls)
            injectAbort(call, counter("__truth_abort_countdown"), kind++ % 8);
        return PreservedAnalyses::none();
    }
    static bool isRequired()
    {
        return true;
    }
};

bool addPass(StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>)
{
    if (name == "truth-table")
        manager.addPass(TablePass());
    else if (name == "truth-log")
        manager.addPass(LogPass());
    else if (name == "truth-own")
        manager.addPass(OwnPass());
    else if (name == "truth-inject")
        manager.addPass(InjectPass());
    else
        return false;
    return true;
}

} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "truth", "1",
            [](PassBuilder &builder) { builder.registerPipelineParsingCallback(addPass); }};
}
