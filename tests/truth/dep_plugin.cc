// SPDX-License-Identifier: Apache-2.0
/*
 * Passes for dynamic slices, beside those of log_plugin.cc, whose nodes these are:
 *
 *   truth-dep     makes the module trace nodes, calls and accesses to memory (dep_runtime.c), and
 *                 writes what dep_slice.c has to know of it to $TRUTH_TABLE; $TRUTH_MODULE is its
 *                 number in the trace
 *   truth-quiet   as truth-inject, but what decides whether to fail is in assembly that names no
 *                 memory, so that a failure depends on the program alone and not on a counter
 *
 * The table, one item a line, fields separated by spaces, items in module order:
 *
 *   file PATH
 *   global NAME SIZE                       a variable that is defined here
 *   function NAME ARGUMENTS FIXED WHERE    FIXED: arguments before the variadic ones, or -1; WHERE:
 *                                          "here", or "elsewhere" when a library's may run instead
 *   node FLAGS SUCCESSOR...                FLAGS: "t" ends with a call that returns twice, or "-"
 *   insn KIND FILE LINE OPERAND...
 *
 * An operand: iN instruction N of the function, aN argument N, "-" anything else.
 *
 *   KIND p    PHI: pairs of an operand and the predecessor node
 *        c    call that ends a node: arguments, each with its class behind a colon (g integer or
 *             pointer, f floating, x else), then the callee: an operand or @NAME
 *        j    jump that does not choose
 *        r, a, l, s, o    return, alloca, load, store, other
 */
#define llvmGetPassPluginInfo truthLogPluginInfo
#include "log_plugin.cc"
#undef llvmGetPassPluginInfo

#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace
{

// The numbers of what the table and the trace name.
struct Numbers {
    DenseMap<const Instruction *, unsigned> insn; // in the function
    DenseMap<const BasicBlock *, unsigned> lastNode;
    std::vector<std::pair<Instruction *, unsigned>> all; // with numbers in the module
};

bool describes(const Instruction &i)
{
    return isa<DbgInfoIntrinsic>(i);
}

Numbers numberFunction(Function &f, const std::vector<Node> &nodes, unsigned first)
{
    Numbers numbers;
    unsigned count = 0;
    for (BasicBlock &block : f)
        for (Instruction &i : block)
            if (!describes(i)) {
                numbers.insn[&i] = count;
                numbers.all.push_back({&i, first + count++});
            }
    for (unsigned n = 0; n < nodes.size(); n++)
        numbers.lastNode[nodes[n].last->getParent()] = n;
    return numbers;
}

struct TableWriter {
    raw_ostream &out;
    std::vector<std::string> files;
    std::string body;

    unsigned file(const DILocation *location)
    {
        std::string name = location->getFilename().str();
        if (name[0] != '/' && !location->getDirectory().empty())
            name = location->getDirectory().str() + "/" + name;
        for (unsigned k = 0; k < files.size(); k++)
            if (files[k] == name)
                return k;
        files.push_back(name);
        return files.size() - 1;
    }

    static std::string operand(const Numbers &numbers, const Value *value)
    {
        if (auto *i = dyn_cast<Instruction>(value))
            return "i" + std::to_string(numbers.insn.lookup(i));
        if (auto *argument = dyn_cast<Argument>(value))
            return "a" + std::to_string(argument->getArgNo());
        return "-";
    }

    static char kind(const Instruction &i)
    {
        if (isa<PHINode>(i))
            return 'p';
        if (endsNode(i))
            return 'c';
        if (isa<BranchInst>(i) && cast<BranchInst>(i).isUnconditional())
            return 'j';
        if (isa<ReturnInst>(i))
            return 'r';
        if (isa<AllocaInst>(i))
            return 'a';
        return isa<LoadInst>(i) ? 'l' : isa<StoreInst>(i) ? 's' : 'o';
    }

    void writeCall(const Numbers &numbers, const CallBase &call)
    {
        for (unsigned k = 0; k < call.arg_size(); k++) {
            Type *type = call.getArgOperand(k)->getType();
            bool whole = (type->isIntegerTy() && type->getIntegerBitWidth() <= 64) ||
                         (type->isPointerTy() && !call.isByValArgument(k));
            bool floating = type->isDoubleTy() || type->isFloatTy();
            body += " " + operand(numbers, call.getArgOperand(k)) +
                    (whole      ? ":g"
                     : floating ? ":f"
                                : ":x");
        }
        auto *callee = dyn_cast<GlobalValue>(call.getCalledOperand()->stripPointerCasts());
        body += callee ? " @" + callee->getName().str()
                       : " " + operand(numbers, call.getCalledOperand());
    }

    void writeInsn(const Numbers &numbers, const Instruction &i)
    {
        const DILocation *location = i.getDebugLoc();
        bool known = location && location->getLine();
        body += std::string("insn ") + kind(i) + " " + std::to_string(known ? file(location) : 0) +
                " " + std::to_string(known ? location->getLine() : 0);
        if (auto *phi = dyn_cast<PHINode>(&i)) {
            for (unsigned k = 0; k < phi->getNumIncomingValues(); k++)
                body += " " + operand(numbers, phi->getIncomingValue(k)) + " " +
                        std::to_string(numbers.lastNode.lookup(phi->getIncomingBlock(k)));
        } else if (endsNode(i)) {
            writeCall(numbers, cast<CallBase>(i));
        } else {
            for (const Use &use : i.operands())
                body += " " + operand(numbers, use.get());
        }
        body += "\n";
    }

    void writeFunction(Function &f, const std::vector<Node> &nodes,
                       DenseMap<BasicBlock *, unsigned> &firstNode, const Numbers &numbers)
    {
        body += "function " + f.getName().str() + " " + std::to_string(f.arg_size()) + " " +
                std::to_string(f.isVarArg() ? (int)f.arg_size() : -1) +
                (f.hasAvailableExternallyLinkage() ? " elsewhere\n" : " here\n");
        for (unsigned n = 0; n < nodes.size(); n++) {
            body += flagsOf(nodes[n]).find('t') != std::string::npos ? "node t" : "node -";
            if (!nodes[n].last->isTerminator())
                body += " " + std::to_string(n + 1);
            else
                for (BasicBlock *successor : successors(nodes[n].last->getParent()))
                    body += " " + std::to_string(firstNode[successor]);
            body += "\n";
            for (Instruction *i = nodes[n].first;; i = i->getNextNode()) {
                if (!describes(*i))
                    writeInsn(numbers, *i);
                if (i == nodes[n].last)
                    break;
            }
        }
    }

    void finish(Module &module, const std::vector<GlobalVariable *> &globals)
    {
        for (const std::string &name : files)
            out << "file " << name << '\n';
        for (GlobalVariable *g : globals)
            out << "global " << g->getName() << ' '
                << module.getDataLayout().getTypeAllocSize(g->getValueType()).getFixedValue()
                << '\n';
        out << body;
    }
};

// ---------------------------------------------------------------- what is made to trace

struct Tracer {
    Module &module;
    const DataLayout &layout;
    Type *u32, *u64, *none, *pointer;
    FunctionCallee enter, node, leave, call, returned, access, copy, allocate, mark, param,
        variadic, clobber;

    explicit Tracer(Module &m) : module(m), layout(m.getDataLayout())
    {
        LLVMContext &c = m.getContext();
        u32 = Type::getInt32Ty(c);
        u64 = Type::getInt64Ty(c);
        none = Type::getVoidTy(c);
        pointer = PointerType::get(c, 0);
        enter = m.getOrInsertFunction("__dep_enter", u32, u32, u32);
        node = m.getOrInsertFunction("__dep_node", none, u32, u32);
        leave = m.getOrInsertFunction("__dep_leave", none, u32);
        call = m.getOrInsertFunction("__dep_call", none, u32, pointer, pointer, u32, pointer);
        returned = m.getOrInsertFunction("__dep_returned", none, u32, pointer, u32, pointer, u64);
        access = m.getOrInsertFunction("__dep_access", none, u32, u32, pointer, u64);
        copy = m.getOrInsertFunction("__dep_copy", none, u32, pointer, pointer, u64);
        allocate = m.getOrInsertFunction("__dep_allocate", none, u32, pointer, u64);
        mark = m.getOrInsertFunction("__dep_mark", none, u32);
        param = m.getOrInsertFunction("__dep_param", none, u32, u32, pointer, u64);
        variadic = m.getOrInsertFunction("__dep_variadic", none, u32, pointer);
        clobber = m.getOrInsertFunction("__dep_clobber", none, u32, pointer);
    }

    Value *bytes(IRBuilder<> &b, Type *type)
    {
        return b.getInt64(layout.getTypeStoreSize(type).getFixedValue());
    }

    // kinds: 1 reads, 2 writes, 3 both
    void traceAccess(Instruction *i, unsigned insn, unsigned kinds, Value *address, Value *length)
    {
        IRBuilder<> b(i);
        add(b, access, {b.getInt32(insn), b.getInt32(kinds), address, length}, i);
    }

    Value *asNumber(IRBuilder<> &b, Value *value)
    {
        Type *type = value->getType();
        if (type->isPointerTy())
            return b.CreatePtrToInt(value, u64);
        if (type->isIntegerTy() && type->getIntegerBitWidth() <= 64)
            return b.CreateZExt(value, u64);
        if (type->isDoubleTy())
            return b.CreateBitCast(value, u64);
        return b.getInt64(0);
    }

    void traceAsm(CallBase *call, unsigned insn)
    {
        IRBuilder<> b(call);
        for (Value *argument : call->args())
            if (argument->getType()->isPointerTy() && !isa<Constant>(argument))
                add(b, clobber, {b.getInt32(insn), argument}, call);
    }

    void traceIntrinsic(IntrinsicInst *i, unsigned insn)
    {
        IRBuilder<> b(i);
        if (auto *transfer = dyn_cast<MemTransferInst>(i)) {
            add(b, copy,
                {b.getInt32(insn), transfer->getRawDest(), transfer->getRawSource(),
                 b.CreateZExtOrTrunc(transfer->getLength(), u64)},
                i);
        } else if (auto *set = dyn_cast<MemSetInst>(i)) {
            traceAccess(i, insn, 2, set->getRawDest(), b.CreateZExtOrTrunc(set->getLength(), u64));
        } else if (i->getIntrinsicID() == Intrinsic::vastart) {
            b.SetInsertPoint(i->getNextNode());
            add(b, variadic, {b.getInt32(insn), i->getArgOperand(0)}, i);
        } else if (i->getIntrinsicID() == Intrinsic::vacopy) {
            add(b, copy,
                {b.getInt32(insn), i->getArgOperand(0), i->getArgOperand(1), b.getInt64(24)}, i);
        } else if (i->getIntrinsicID() == Intrinsic::trap ||
                   i->getIntrinsicID() == Intrinsic::ubsantrap ||
                   i->getIntrinsicID() == Intrinsic::debugtrap) {
            add(b, mark, {b.getInt32(insn)}, i);
        }
    }

    void traceAlloca(AllocaInst *i, unsigned insn)
    {
        IRBuilder<> b(i->getNextNode());
        Value *size =
            b.CreateMul(b.CreateZExtOrTrunc(i->getArraySize(), u64),
                        b.getInt64(layout.getTypeAllocSize(i->getAllocatedType()).getFixedValue()));
        add(b, allocate, {b.getInt32(insn), i, size}, i);
    }

    void traceInsn(Instruction *i, unsigned insn)
    {
        IRBuilder<> b(i);
        if (auto *load = dyn_cast<LoadInst>(i))
            traceAccess(i, insn, 1, load->getPointerOperand(), bytes(b, load->getType()));
        else if (auto *store = dyn_cast<StoreInst>(i))
            traceAccess(i, insn, 2, store->getPointerOperand(),
                        bytes(b, store->getValueOperand()->getType()));
        else if (auto *rmw = dyn_cast<AtomicRMWInst>(i))
            traceAccess(i, insn, 3, rmw->getPointerOperand(), bytes(b, rmw->getType()));
        else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(i))
            traceAccess(i, insn, 3, exchange->getPointerOperand(),
                        bytes(b, exchange->getNewValOperand()->getType()));
        else if (auto *alloca = dyn_cast<AllocaInst>(i))
            traceAlloca(alloca, insn);
        else if (auto *intrinsic = dyn_cast<IntrinsicInst>(i))
            traceIntrinsic(intrinsic, insn);
        else if (isa<CallBase>(i) && cast<CallBase>(i)->isInlineAsm())
            traceAsm(cast<CallBase>(i), insn);
        else if (i->isIntDivRem())
            add(b, mark, {b.getInt32(insn)}, i);
    }

    // All arguments as numbers, in the array `slots`; the name is there where one is.
    void traceCall(CallBase *i, unsigned insn, Value *slots)
    {
        IRBuilder<> b(i);
        Value *callee = i->getCalledOperand();
        for (unsigned k = 0; k < i->arg_size(); k++) {
            Value *argument = i->getArgOperand(k);
            b.CreateStore(asNumber(b, argument), b.CreateConstGEP1_64(u64, slots, k));
            if (i->isByValArgument(k))
                add(b, param,
                    {b.getInt32(k), b.getInt32(1), argument, bytes(b, i->getParamByValType(k))}, i);
        }
        auto *named = dyn_cast<GlobalValue>(callee->stripPointerCasts());
        Value *name = Constant::getNullValue(pointer);
        if (named)
            name = b.CreateGlobalString(named->getName(), "__dep_name", 0, &module);
        add(b, call, {b.getInt32(insn), callee, name, b.getInt32(i->arg_size()), slots}, i);
    }

    void traceReturned(CallBase *i, unsigned insn, Value *slots, Instruction *at)
    {
        if (i->doesNotReturn() || i->hasFnAttr(Attribute::ReturnsTwice))
            return;
        IRBuilder<> b(at);
        Value *result = i->getType()->isVoidTy() ? b.getInt64(0) : asNumber(b, i);
        add(b, returned,
            {b.getInt32(insn), i->getCalledOperand(), b.getInt32(i->arg_size()), slots, result}, i);
    }
};

Instruction *afterCall(const std::vector<Node> &nodes, const std::vector<Instruction *> &starts,
                       unsigned n)
{
    if (!nodes[n].last->isTerminator())
        return starts[n + 1];
    return nullptr; // an invoke: what its callee did to memory is not told
}

unsigned mostArguments(const std::vector<Node> &nodes)
{
    unsigned most = 1;
    for (const Node &node : nodes)
        if (node.call && node.call->arg_size() > most)
            most = node.call->arg_size();
    return most;
}

void traceFunction(Function &f, unsigned moduleNumber, unsigned index,
                   const std::vector<Node> &nodes, const Numbers &numbers, Tracer &tracer)
{
    std::vector<Instruction *> starts;
    DenseMap<Instruction *, unsigned> at;
    for (const Node &node : nodes)
        starts.push_back(startOf(node));
    for (auto &[i, insn] : numbers.all)
        at[i] = insn;

    IRBuilder<> b(starts[0]);
    Value *slots = b.CreateAlloca(tracer.u64, b.getInt32(mostArguments(nodes)));
    Value *activation =
        add(b, tracer.enter, {b.getInt32(moduleNumber), b.getInt32(index)}, starts[0]);
    for (Argument &argument : f.args())
        if (argument.hasByValAttr())
            add(b, tracer.param,
                {b.getInt32(argument.getArgNo()), b.getInt32(0), &argument,
                 tracer.bytes(b, argument.getParamByValType())},
                starts[0]);
    for (unsigned n = 0; n < nodes.size(); n++) {
        if (starts[n]) {
            b.SetInsertPoint(starts[n]);
            add(b, tracer.node, {activation, b.getInt32(n)}, starts[n]);
        }
        Instruction *after = n ? afterCall(nodes, starts, n - 1) : nullptr;
        if (after && nodes[n - 1].call)
            tracer.traceReturned(nodes[n - 1].call, at[nodes[n - 1].call], slots, after);
    }
    for (const Node &node : nodes) {
        if (node.call)
            tracer.traceCall(node.call, at[node.call], slots);
        if (Instruction *leave = leavePoint(node.last)) {
            b.SetInsertPoint(leave);
            add(b, tracer.leave, {activation}, leave);
        }
    }
    for (auto &[i, insn] : numbers.all)
        if (!endsNode(*i))
            tracer.traceInsn(i, insn);
}

// A constructor that tells where functions and variables are.
void traceAddresses(Module &module, unsigned number, const std::vector<Function *> &functions,
                    const std::vector<GlobalVariable *> &globals)
{
    LLVMContext &c = module.getContext();
    Type *u32 = Type::getInt32Ty(c), *pointer = PointerType::get(c, 0);
    FunctionCallee address =
        module.getOrInsertFunction("__dep_address", Type::getVoidTy(c), u32, u32, u32, pointer);
    Function *set = Function::Create(FunctionType::get(Type::getVoidTy(c), false),
                                     GlobalValue::InternalLinkage, "__dep_addresses", module);
    IRBuilder<> b(BasicBlock::Create(c, "", set));
    for (unsigned k = 0; k < functions.size(); k++)
        b.CreateCall(address, {b.getInt32(0), b.getInt32(number), b.getInt32(k), functions[k]});
    for (unsigned k = 0; k < globals.size(); k++) {
        Value *at = globals[k];
        if (globals[k]->isThreadLocal())
            at = b.CreateThreadLocalAddress(globals[k]);
        b.CreateCall(address, {b.getInt32(1), b.getInt32(number), b.getInt32(k), at});
    }
    b.CreateRetVoid();
    appendToGlobalCtors(module, set, 0);
}

struct DepPass : PassInfoMixin<DepPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        unsigned number = ::number("TRUTH_MODULE", 0), index = 0, insns = 0;
        std::error_code error;
        raw_fd_ostream out(getenv("TRUTH_TABLE") ? getenv("TRUTH_TABLE") : "-", error);
        if (error)
            report_fatal_error("truth-dep: cannot write the table");
        std::vector<Function *> functions;
        std::vector<GlobalVariable *> globals;
        for (Function &f : module)
            if (!f.isDeclaration())
                functions.push_back(&f);
        for (GlobalVariable &g : module.globals())
            if (!g.isDeclaration() && !g.getName().starts_with("llvm."))
                globals.push_back(&g);
        Tracer tracer(module);
        TableWriter table{out, {}, {}};
        for (Function *f : functions) {
            DenseMap<BasicBlock *, unsigned> firstNode;
            std::vector<Node> nodes = nodesOf(*f, firstNode);
            Numbers numbers = numberFunction(*f, nodes, insns);
            insns += numbers.all.size();
            table.writeFunction(*f, nodes, firstNode, numbers);
            if (!f->hasFnAttribute(Attribute::Naked))
                traceFunction(*f, number, index, nodes, numbers, tracer);
            index++;
            if (f->hasAvailableExternallyLinkage())
                f->setLinkage(GlobalValue::InternalLinkage);
        }
        table.finish(module, globals);
        traceAddresses(module, number, functions, globals);
        return PreservedAnalyses::none();
    }
    static bool isRequired()
    {
        return true;
    }
};

// ---------------------------------------------------------------- failures that nothing counts

// Is it time? The counters of inject_runtime.c, out of the module's sight.
Value *quietlyDue(IRBuilder<> &b, const char *counter)
{
    std::string text = std::string("decq ") + counter + "(%rip)\n\tsete $0";
    InlineAsm *code =
        InlineAsm::get(FunctionType::get(b.getInt8Ty(), false), text, "=q,~{flags}", true);
    return b.CreateTrunc(b.CreateCall(code), b.getInt1Ty());
}

void quietFault(Instruction *access, unsigned operand)
{
    IRBuilder<> b(access);
    InlineAsm *bad = InlineAsm::get(FunctionType::get(b.getPtrTy(), false),
                                    "movq __truth_bad_address(%rip), $0", "=r", true);
    Value *now = quietlyDue(b, "__truth_fault_countdown");
    Value *address = b.CreateCall(bad);
    access->setOperand(operand, b.CreateSelect(now, address, access->getOperand(operand)));
}

void quietAbort(CallBase *call, unsigned kind)
{
    IRBuilder<> b(call);
    Instruction *end =
        SplitBlockAndInsertIfThen(quietlyDue(b, "__truth_abort_countdown"), call, true);
    b.SetInsertPoint(end);
    b.SetCurrentDebugLocation(call->getDebugLoc());
    if (kind == 0) {
        b.CreateIntrinsic(Intrinsic::trap, {}, {});
        return;
    }
    FunctionCallee callee = call->getModule()->getOrInsertFunction("abort", b.getVoidTy());
    b.CreateCall(callee)->setDoesNotReturn();
}

struct QuietPass : PassInfoMixin<QuietPass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        unsigned rate = number("TRUTH_RATE", 4), kind = 0;
        Chance chance{number("TRUTH_SEED", 1)};
        std::vector<Instruction *> accesses;
        std::vector<CallBase *> calls;
        for (Function &f : module)
            for (BasicBlock &block : f)
                for (Instruction &i : block) {
                    if (f.hasFnAttribute(Attribute::Naked))
                        continue;
                    if (canFault(i) && chance.oneOf(rate))
                        accesses.push_back(&i);
                    else if (endsNode(i) && isa<CallInst>(i) && chance.oneOf(rate) &&
                             !cast<CallInst>(i).isMustTailCall())
                        calls.push_back(cast<CallBase>(&i));
                }
        for (Instruction *i : accesses)
            quietFault(i, isa<LoadInst>(i) ? 0 : 1);
        for (CallBase *call : calls)
            quietAbort(call, kind++ % 8);
        return PreservedAnalyses::none();
    }
    static bool isRequired()
    {
        return true;
    }
};

bool addDepPass(StringRef name, ModulePassManager &manager,
                ArrayRef<PassBuilder::PipelineElement> inner)
{
    if (name == "truth-dep")
        manager.addPass(DepPass());
    else if (name == "truth-quiet")
        manager.addPass(QuietPass());
    else
        return addPass(name, manager, inner);
    return true;
}

} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "truth-dep", "1",
            [](PassBuilder &builder) { builder.registerPipelineParsingCallback(addDepPass); }};
}
