-- A map with integer keys and one with text keys: insertion, replacement and lookup, hits and misses.

local function size(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

local numbers = {}
local seed = 42
for i = 0, 399999 do
  seed = (seed * 1103515245 + 12345) % 2147483648
  numbers[seed % 500000] = i
end
local sum = 0
local misses = 0
for key = 0, 499999 do
  local value = numbers[key]
  if value then sum = sum + value else misses = misses + 1 end
end

local words = {}
for i = 0, 149999 do
  local key = "k" .. tostring(i * 7919 % 100000)
  words[key] = i
end
for i = 0, 149999 do sum = sum + (words["k" .. tostring(i)] or 0) end
print(size(numbers) .. " " .. size(words) .. " " .. misses .. " " .. sum)
