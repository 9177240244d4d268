# SPDX-License-Identifier: Apache-2.0
"""Random statements and expressions of C.

Everything is of type u32, so that nothing overflows; what is of another type in between is cast to something wide enough.
Loops have constant bounds. Calls go to functions that the fragment may call (fragment.py), as long as they are cheap enough for
the place.

    code = Code(fragment, ["a", "b"], times=1000)      # the place is passed 1,000 times
    code.statements(4), code.expression()
"""

LEAST_COST = 4  # of a statement, in operations


class Code:
    def __init__(self, fragment, variables, times=1, loops=True, calls=True, returns=False, fixed=()):
        """`variables` may be assigned, `fixed` only read. `returns`: the function gives a u32 and may end anywhere."""
        self.fragment, self.draw = fragment, fragment.draw
        self.variables, self.fixed = list(variables), list(fixed)
        self.times, self.loops, self.calls, self.returns = times, loops, calls, returns
        self.depth = 0

    # ---- expressions

    def atom(self):
        if self.draw.chance(25):
            return self.draw.word()
        return self.draw.of(*self.variables, *self.fixed)

    def expression(self, depth=2):
        draw = self.draw
        if depth == 0 or draw.chance(15):
            return self.atom()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        shift, byte = draw.between(1, 31), draw.between(1, 255)
        return draw.of(
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {b})",
            f"({a} ^ {b})",
            f"({a} & {b})",
            f"({a} | {b})",
            f"(~{a})",
            f"({a} << {shift})",
            f"({a} >> {shift})",
            f"({a} << ({b} & 31u))",
            f"({a} >> ({b} & 31u))",
            f"({a} / ({b} | 1u))",
            f"({a} % ({b} | 1u))",
            f"({a} % {byte}u)",
            f"(u32)(u8)({a})",
            f"(u32)(i32)(i8)({a})",
            f"(u32)(u16)({a})",
            f"(u32)((i32)({a}) >> {shift})",
            f"(u32)((i32)({a}) / (i32)(({b} & 0xffu) + 1u))",
            f"(u32)((i64)(i32)({a}) * (i64)(i32)({b}) >> {shift})",
            f"(u32)((u64)({a}) * ({b}) >> 32)",
            f"({self.condition(depth - 1)} ? {a} : {b})",
            f"(u32)({self.condition(depth - 1)})",
            f"mix({a}, {b})",
            f"(({a} << {shift}) | ({b} >> {32 - shift}))",
        )

    def condition(self, depth=1):
        draw = self.draw
        a, b = self.expression(depth), self.expression(max(depth - 1, 0))
        simple = draw.of(
            f"{a} < {b}",
            f"{a} != {b}",
            f"{a} > {b}",
            f"({a} & {draw.between(1, 7)}u) == 0u",
            f"(i32)({a}) < 0",
            f"({a} & {b}) != 0u",
            f"!({a} & 1u)",
            f"(i32)({a}) >= (i32)({b})",
        )
        if depth > 0 and draw.chance(25):
            return f"({simple} {draw.of('&&', '||')} {self.condition(depth - 1)})"
        return f"({simple})"

    # ---- statements

    def statements(self, count):
        return "\n".join(self.statement() for _ in range(count))

    def statement(self):
        self.fragment.spend(LEAST_COST * self.times)
        kinds = [(5, self.assignment), (1, self.through_pointer)]
        if self.depth < 3:
            kinds += [(3, self.choice), (1, self.switch), (1, self.skip), (1, self.array)]
            if self.loops and self.fragment.affords(40 * LEAST_COST * self.times):
                kinds += [(2, self.loop), (1, self.endless_loop)]
        if self.calls:
            kinds.append((2, self.call))
        if self.returns and self.depth > 0:
            kinds.append((1, self.leave))
        return self.draw.weighted(kinds)()

    def nested(self, count, times=None):
        old = self.times, self.depth
        self.times, self.depth = times or self.times, self.depth + 1
        text = self.statements(count)
        self.times, self.depth = old
        return "{\n" + text + "\n}"

    def target(self):
        return self.draw.of(*self.variables)

    def assignment(self):
        operator = self.draw.of("=", "+=", "-=", "^=", "*=", "|=", "=")
        text = f"{self.target()} {operator} {self.expression()};"
        return text if self.draw.chance(85) else f"{self.target()}{self.draw.of('++', '--')};"

    def through_pointer(self):
        p = self.fragment.fresh("p")
        return (
            (
                f"{{\nu32 *{p} = {self.condition()} ? (u32 *)&{self.target()} : (u32 *)&{self.target()};\n"
                f"*{p} {self.draw.of('+=', '^=', '=')} {self.expression()};\n}}"
            )
            if not self.fragment.volatile
            else self.assignment()
        )

    def choice(self):
        text = f"if ({self.condition()}) {self.nested(self.draw.between(1, 2))}"
        while self.draw.chance(20):
            text += f" else if ({self.condition()}) {self.nested(1)}"
        return text + (f" else {self.nested(self.draw.between(1, 2))}" if self.draw.chance(50) else "")

    def switch(self):
        mask = self.draw.of(3, 7)
        text = f"switch ({self.expression(1)} & {mask}u) {{\n"
        for case in range(mask + 1):
            if self.draw.chance(70):
                text += f"case {case}: {self.nested(1)}{self.draw.of(' break;', ' break;', '')}\n"
        return text + f"default: {self.nested(1)}\n}}"

    def skip(self):
        label = self.fragment.fresh("l")
        return f"if ({self.condition()}) goto {label};\n{self.nested(1)}\n{label}:;"

    def array(self):
        t, size = self.fragment.fresh("t"), self.draw.of(4, 8, 16)
        values = ", ".join(self.draw.word() for _ in range(size // 2))
        return (
            f"{{\nu32 {t}[{size}] = {{{values}}};\n{t}[{self.expression(1)} & {size - 1}u] ^= {self.expression(1)};\n"
            f"{self.target()} += {t}[{self.expression(1)} & {size - 1}u];\n}}"
        )

    def loop(self):
        i, count = self.fragment.fresh("i"), self.draw.between(1, 6)
        head = self.draw.of(f"for (u32 {i} = 0; {i} < {count}; {i}++)", f"for (u32 {i} = {count}; {i}--;)")
        return f"{head} {self.inside(i, count)}"

    def endless_loop(self):
        i, count = self.fragment.fresh("i"), self.draw.between(1, 6)
        inner = self.inside(i, count)
        ends = f"if (++{i} >= {count}u) break;"
        if self.draw.chance(50):
            return f"{{\nu32 {i} = 0;\nfor (;;) {{\n{ends}\n{inner}\n}}\n}}"
        return f"{{\nu32 {i} = 0;\ndo {inner} while (++{i} < {count}u && {self.condition()});\n}}"

    def inside(self, counter, count):
        self.fixed.append(counter)
        text = self.nested(self.draw.between(1, 3), self.times * count)
        self.fixed.pop()
        if self.draw.chance(30):
            text = (
                f"{{\nif ({self.condition()}) {self.draw.of('break', 'continue')};\n{text}\n}}"
                if self.draw.chance(50)
                else f"{{\n{text}\nif ({self.condition()}) {self.draw.of('break', 'continue')};\n}}"
            )
        return text

    def call(self):
        function = self.fragment.callee(self.times)
        if function is None:
            return self.assignment()
        call = f"{function}({self.expression(1)})"
        return self.draw.of(
            f"{self.target()} = {call};",
            f"{self.target()} ^= {call};",
            f"(void){call};",
            f"if ({self.condition(0)}) {self.target()} += {call};",
            f"{self.target()} += {self.condition(0)} && {call} > 5u;",
        )

    def leave(self):
        return f"if ({self.condition()} && {self.condition()}) return {self.expression(1)};"
