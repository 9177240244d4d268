-- Language and libraries: closures, metatables, coroutines, strings, tables,
-- integers and floats, goto, errors, garbage collection. Output does not depend on
-- addresses, on time or on the order of pairs().

local function check(name, ok)
  print("check " .. name .. (ok and " PASS" or " FAIL"))
end

local function sorted_keys(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = tostring(k) end
  table.sort(keys)
  return table.concat(keys, " ")
end

-- Arithmetic
print(7 // 2, -7 // 2, 7 % -3, -7 % 3, 7.5 // 2, 2 ^ 10, 1 << 62, ~0, 5 & 3, 5 | 3, 5 ~ 3)
print(math.maxinteger + 1 == math.mininteger, 1e15, 2 ^ 53, 10 / 2, 3 | 0, "10" + 5, 0x7fp-2)
print(math.tointeger(3.0), math.type(1), math.type(1.0), math.fmod(-7, 3), math.ult(1, -1))
print(string.format("%5d|%-5d|%05.1f|%x|%q|%s|%10.3s|%g|%a", 42, 42, 3.14159, 255, "a\n\"b\"", nil, "abcdef", 1e20, 1.0))
print(pcall(function() return 1 // 0 end))
print(1 / 0, -1 / 0, 0 / 0 ~= 0 / 0, math.huge // 1, 3 % math.huge)

-- Closures and upvalues
local function counter()
  local n = 0
  return function() n = n + 1 return n end, function() return n end
end
local up, get = counter()
for _ = 1, 10 do up() end
check("upvalues_shared", get() == 10)
local fs = {}
for i = 1, 3 do fs[i] = function() i = i + 1 return i end end
check("loop_variable_is_fresh", fs[1]() == 2 and fs[1]() == 3 and fs[2]() == 3)

-- Varargs
local function count(...) return select("#", ...), (select(-1, ...)) end
print(count(nil, nil, 3), table.unpack({ 1, 2, 3 }, 2), table.pack(1, nil, 3).n)

-- Metatables
local Vector = {}
Vector.__index = Vector
Vector.__add = function(a, b) return setmetatable({ x = a.x + b.x, y = a.y + b.y }, Vector) end
Vector.__eq = function(a, b) return a.x == b.x and a.y == b.y end
Vector.__lt = function(a, b) return a.x < b.x end
Vector.__le = function(a, b) return a.x <= b.x end
Vector.__len = function(a) return 2 end
Vector.__call = function(self, k) return self.x * k, self.y * k end
Vector.__tostring = function(a) return "(" .. a.x .. ", " .. a.y .. ")" end
Vector.__concat = function(a, b) return tostring(a) .. tostring(b) end
Vector.__unm = function(a) return setmetatable({ x = -a.x, y = -a.y }, Vector) end
local v = setmetatable({ x = 1, y = 2 }, Vector)
print(tostring(v + v), v == v + v, v < v + v, v <= v, #v, v(10), v .. "!", tostring(-v))
local log = {}
local proxy = setmetatable({}, {
  __index = function(_, k) log[#log + 1] = "get " .. k return k end,
  __newindex = function(t, k, x) log[#log + 1] = "set " .. k rawset(t, k, x) end,
})
proxy.a = proxy.b
proxy.a = proxy.a
print(table.concat(log, ", "))
do
  local order = {}
  do
    local a <close> = setmetatable({}, { __close = function() order[#order + 1] = "a" end })
    local b <close> = setmetatable({}, { __close = function(_, e) order[#order + 1] = "b" end })
    local c <const> = 3
  end
  check("close_in_reverse", table.concat(order) == "ba")
end

-- Coroutines
local function permutations(a, n)
  n = n or #a
  if n <= 1 then coroutine.yield(a) end
  for i = 1, n do
    a[n], a[i] = a[i], a[n]
    permutations(a, n - 1)
    a[n], a[i] = a[i], a[n]
  end
end
local seen, total = {}, 0
for p in coroutine.wrap(function() permutations({ 1, 2, 3, 4, 5 }) end) do
  seen[table.concat(p)] = true
end
for _ in pairs(seen) do total = total + 1 end
check("permutations", total == 120)
local co = coroutine.create(function(a)
  local b = coroutine.yield(a + 1)
  local ok, e = pcall(function() coroutine.yield("inside pcall") error({ code = b }) end)
  coroutine.yield(e.code)
  error("from coroutine")
end)
print(coroutine.resume(co, 1))
print(coroutine.resume(co, 7))
print(coroutine.resume(co))
print(coroutine.resume(co))
print(select("#", coroutine.resume(co)), coroutine.status(co), coroutine.isyieldable())
print(coroutine.close(coroutine.create(print)))

-- Errors
local function thrower(level) error("message", level) end
print(pcall(thrower, 0))
print(select(2, pcall(error, setmetatable({}, { __tostring = function() return "object" end }))) ~= nil)
print(xpcall(function() local x = nil; return x.field end, function(m) return "handled: " .. m:gsub("^.-:%d+: ", "") end))
print(pcall(string.rep, "x", -1), pcall(setmetatable, 1, {}))
local depth = 0
local function recurse() depth = depth + 1 return 1 + recurse() end
local ok, message = pcall(recurse)
check("stack_overflow_is_caught", not ok and message:find("stack overflow") ~= nil and depth > 1000)
local function tail(n) if n == 0 then return "done" end return tail(n - 1) end
check("tail_calls", tail(1000000) == "done")
print(load("return 1 +"))
print(load("x = = 2", "=chunk"))
print(pcall(load("local t = {} t[nil] = 1", "=chunk")))
check("load_with_environment", load("return a * 2", "c", "t", { a = 21 })() == 42)
check("dump_and_undump", load(string.dump(function(a) return a * a end))(12) == 144)

-- goto, nested break, integer and float loops
local out = {}
for i = 1, 3 do
  for j = 1, 3 do
    if j == 2 then goto continue end
    out[#out + 1] = i * 10 + j
    ::continue::
  end
end
print(table.concat(out, ","))
for i = 10, 1, -4 do io.write(i, " ") end
for x = 0, 1, 0.25 do io.write(x, " ") end
for i = math.maxinteger - 1, math.maxinteger do io.write(i, " ") end
print()

-- Tables
local t = {}
for i = 1, 1000 do t[i] = (i * 7919) % 1009 end
table.sort(t)
local ordered = true
for i = 2, #t do ordered = ordered and t[i - 1] <= t[i] end
check("sorted", ordered)
table.sort(t, function(a, b) return a > b end)
print(t[1], t[500], t[1000], #t)
table.insert(t, 1, -1)
print(table.remove(t), table.remove(t, 1), #t)
print(table.concat(table.move({ 1, 2, 3, 4 }, 2, 4, 1), " "))
print(pcall(table.sort, { 3, 1, 2, 5, 4, 7, 6 }, function() return true end))
for i = 1, 1000 do t[i] = nil end
check("emptied", next(t) == nil)
print(sorted_keys({ a = 1, b = 2, [3] = 3, [4.5] = 4, [true] = 5 }))
print(rawlen({ 1, 2 }), rawequal("a", "a"), rawget(setmetatable({}, { __index = { z = 1 } }), "z"))

-- Garbage collection, weak tables, finalizers
local weak = setmetatable({}, { __mode = "k" })
for i = 1, 100 do weak[{}] = i end
local finalized = 0
for _ = 1, 50 do setmetatable({}, { __gc = function() finalized = finalized + 1 end }) end
collectgarbage()
collectgarbage()
check("weak_keys_collected", next(weak) == nil)
check("finalizers_ran", finalized == 50)
collectgarbage("generational")
local keep = {}
for i = 1, 20000 do keep[i % 100] = { i, tostring(i) } end
collectgarbage("incremental")
collectgarbage("step", 100)
check("survivors_intact", keep[99][1] == 19999 and keep[0][2] == "20000")
check("end", true)
