-- String matching, packing, UTF-8, io and os on files below arg[1], and some
-- larger programs: n-queens, matrix product, a JSON writer and reader, LZW, life.

local function check(name, ok)
  print("check " .. name .. (ok and " PASS" or " FAIL"))
end

-- Strings
print(("hello world"):find("o w"), ("hello"):find("l", 1, true), ("a.b"):find(".", 2, true), ("abc"):match("^(a)(.-)c$"))
print(("key = value"):match("^(%w+)%s*=%s*(%w+)$"))
print(("abc"):gsub("%w", "%0%0"), ("abc"):gsub("", "-"), ("hello world"):gsub("o", { o = "0" }, 1))
print(("%d+"):rep(3, "|"), ("x"):rep(0), ("abc"):reverse(), ("aBc"):upper(), ("abc"):byte(1, -1))
print(("f(a(b)c)d"):match("%b()"), ("THE (quick) fox"):find("%((%a+)%)"), ("  trim  "):match("^%s*(.-)%s*$") .. "|")
print(("one;two;;four"):gsub(";;", ";nil;"), ("frontier THE END"):gsub("%f[%a]%a+", string.len))
for k, v in ("a=1, b=2, c=3"):gmatch("(%w+)=(%w+)") do io.write(k, v, " ") end
print(pcall(string.find, "a", "[a"), pcall(string.gsub, "a", "a", "%2"))
print(#string.pack("<i4z>I2s1", -2, "text", 258, "s"), string.unpack("<i4", string.pack("<i4", -2)))
print(string.unpack(">I2", "\1\2"), string.packsize("!8i1i8"), (string.pack("<d", 1.5)):byte(1, -1))
print(utf8.char(72, 228, 8364, 128512), utf8.len("häß€"), utf8.codepoint("€", 1), utf8.offset("a€b", 3), utf8.len("\xff"))
print(tostring(1e100), tostring(-0.0), tonumber("0x1p4"), tonumber("  12  "), tonumber("1e"), tonumber("zz", 36), tonumber("8", 8))

-- Files
local directory = assert(arg[1])
local path = directory .. "/lines"
local file = assert(io.open(path, "w"))
for i = 1, 500 do file:write(i, " ", i * i, " ", string.rep("x", i % 20), "\n") end
file:close()
local sum, lines = 0, 0
for a, b in io.lines(path, "n", "n") do
  if not a then break end
  sum = sum + (b or 0)
  lines = lines + 1
  if lines >= 1 then break end
end
for line in io.lines(path) do
  local n, square = line:match("^(%d+) (%d+)")
  sum = sum + square - n * n
end
check("files_read_back", sum == 1)
file = assert(io.open(path, "r+"))
print(file:seek("end"), file:seek("set", 5), file:read(3), file:read("l"), file:read("L"), file:read("n"), file:seek("cur"))
file:setvbuf("full", 256)
file:seek("set", 0)
file:write("0")
file:close()
file = io.open(path)
print(#file:read("a"), file:read("a"), file:read("l"), io.type(file), io.type(42))
file:close()
print(pcall(file.read, file), io.type(file))
print((select(2, io.open(directory .. "/missing/file"))):match(": (.*)"))
print(os.rename(path, path .. "2"), os.remove(path .. "2"), (select(3, os.remove(path))))
print(os.date("!%Y-%m-%d %H:%M:%S", 86400 * 365), os.time({ year = 2000, month = 1, day = 1, hour = 12 }), os.getenv("NO_SUCH_VARIABLE"))
local pipe = io.popen("echo from a child", "r")
print(pipe:read("a"), pipe:close())
print(os.execute("exit 3"))

-- Queens
local function queens(n)
  local found, columns, up, down = 0, {}, {}, {}
  local function place(row)
    if row > n then found = found + 1 return end
    for c = 1, n do
      if not (columns[c] or up[row + c] or down[row - c]) then
        columns[c], up[row + c], down[row - c] = true, true, true
        place(row + 1)
        columns[c], up[row + c], down[row - c] = nil, nil, nil
      end
    end
  end
  place(1)
  return found
end
check("queens", queens(8) == 92)

-- Matrix product, floating point
local function matrix(n, seed)
  local m = {}
  for i = 1, n do
    m[i] = {}
    for j = 1, n do seed = (seed * 16807) % 2147483647 m[i][j] = seed / 2147483647 end
  end
  return m
end
local function product(a, b)
  local n, c = #a, {}
  for i = 1, n do
    c[i] = {}
    for j = 1, n do
      local s = 0.0
      for k = 1, n do s = s + a[i][k] * b[k][j] end
      c[i][j] = s
    end
  end
  return c
end
local c = product(matrix(40, 42), matrix(40, 7))
print(string.format("%.12f %.12f %.12f", c[1][1], c[20][20], c[40][40]))

-- JSON out and in
local function encode(v)
  if type(v) == "table" then
    local parts = {}
    if #v > 0 then
      for i, x in ipairs(v) do parts[i] = encode(x) end
      return "[" .. table.concat(parts, ",") .. "]"
    end
    local keys = {}
    for k in pairs(v) do keys[#keys + 1] = k end
    table.sort(keys)
    for i, k in ipairs(keys) do parts[i] = string.format("%q:%s", k, encode(v[k])) end
    return "{" .. table.concat(parts, ",") .. "}"
  end
  return type(v) == "string" and string.format("%q", v) or tostring(v)
end
local function decode(s)
  local at = 1
  local value
  local function skip() at = s:find("%S", at) or #s + 1 end
  function value()
    skip()
    local ch = s:sub(at, at)
    if ch == "{" or ch == "[" then
      local result, closing = {}, ch == "{" and "}" or "]"
      at = at + 1
      skip()
      while s:sub(at, at) ~= closing do
        local item = value()
        skip()
        if ch == "{" then
          assert(s:sub(at, at) == ":", "colon expected")
          at = at + 1
          result[item] = value()
        else
          result[#result + 1] = item
        end
        skip()
        if s:sub(at, at) == "," then at = at + 1 skip() end
      end
      at = at + 1
      return result
    elseif ch == '"' then
      local from, to, text = s:find('"(.-)"', at)
      at = to + 1
      return text
    end
    local word = s:match("^[%w%.%-+]+", at) or error("unexpected '" .. ch .. "' at " .. at, 0)
    at = at + #word
    if word == "true" or word == "false" then return word == "true" end
    return tonumber(word)
  end
  return value()
end
local document = { name = "inquest", list = { 1, 2.5, { deep = { true, false } } }, empty = { x = {} } }
local text = encode(document)
print(text)
check("json_round_trip", encode(decode(text)) == text)
print(pcall(decode, "[1, ?]"))

-- LZW
local function compress(s)
  local dictionary, size, w, out = {}, 256, "", {}
  for i = 0, 255 do dictionary[string.char(i)] = i end
  for ch in s:gmatch(".") do
    if dictionary[w .. ch] then
      w = w .. ch
    else
      out[#out + 1] = dictionary[w]
      dictionary[w .. ch] = size
      size = size + 1
      w = ch
    end
  end
  out[#out + 1] = dictionary[w]
  return out
end
local function expand(codes)
  local dictionary, size, out = {}, 256, {}
  for i = 0, 255 do dictionary[i] = string.char(i) end
  local w = dictionary[codes[1]]
  out[1] = w
  for i = 2, #codes do
    local entry = dictionary[codes[i]] or w .. w:sub(1, 1)
    out[#out + 1] = entry
    dictionary[size] = w .. entry:sub(1, 1)
    size = size + 1
    w = entry
  end
  return table.concat(out)
end
local long = {}
for i = 1, 400 do long[i] = "line " .. (i * i) % 37 .. "; " end
long = table.concat(long)
local codes = compress(long)
print(#long, #codes, codes[10], codes[#codes])
check("lzw", expand(codes) == long)

-- Life: a glider returns to its shape four generations later, one cell on
local function generation(cells, n)
  local nextcells = {}
  for i = 0, n * n - 1 do
    local x, y, alive = i % n, i // n, 0
    for dx = -1, 1 do
      for dy = -1, 1 do
        if (dx ~= 0 or dy ~= 0) and cells[(x + dx) % n + (y + dy) % n * n] then alive = alive + 1 end
      end
    end
    if alive == 3 or (alive == 2 and cells[i]) then nextcells[i] = true end
  end
  return nextcells
end
local n, cells = 16, {}
for _, p in ipairs({ { 1, 0 }, { 2, 1 }, { 0, 2 }, { 1, 2 }, { 2, 2 } }) do cells[p[1] + p[2] * n] = true end
for _ = 1, 4 * n do cells = generation(cells, n) end
check("glider", cells[1] and cells[2 + n] and cells[2 * n] and cells[1 + 2 * n] and cells[2 + 2 * n] and true)
check("end", true)
