-- Integer arithmetic in nested loops: how many triples below 340 add up to a multiple of 7, and a
-- running mixture that depends on every step.

local n = 340
local hits = 0
local mixture = 1
for a = 0, n - 1 do
  for b = 0, n - 1 do
    for c = 0, n - 1 do
      local sum = a + b + c
      if sum % 7 == 0 then hits = hits + 1 end
      mixture = (mixture * 5 + sum) & 1048575
    end
  end
end
print(hits .. " " .. mixture)
