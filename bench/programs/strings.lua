-- Text that grows piece by piece, as each language recommends it: a table of pieces, joined at the
-- end. Then a walk over its bytes.

local function build(n)
  local parts = {}
  for i = 1, n do
    parts[#parts + 1] = tostring(i)
    parts[#parts + 1] = ", "
  end
  return table.concat(parts)
end

local length = 0
for round = 0, 3 do length = length + #build(400000 + round) end
local text = build(300000)
local commas = 0
local digits = 0
local byteAt = string.byte
for i = 1, #text do
  local byte = byteAt(text, i)
  if byte == 44 then commas = commas + 1 elseif byte >= 48 then digits = digits + byte - 48 end
end
print(length .. " " .. commas .. " " .. digits)
