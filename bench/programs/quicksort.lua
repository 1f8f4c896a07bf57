-- Writing through a reference: quicksort of 700,000 numbers, by hand.

local function sort(xs, low, high)
  if low >= high then return end
  local pivot = xs[(low + high) // 2]
  local i = low
  local j = high
  while i <= j do
    while xs[i] < pivot do i = i + 1 end
    while xs[j] > pivot do j = j - 1 end
    if i <= j then
      local kept = xs[i]
      xs[i] = xs[j]
      xs[j] = kept
      i = i + 1
      j = j - 1
    end
  end
  sort(xs, low, j)
  sort(xs, i, high)
end

local n = 700000
local xs = {}
local seed = 7
for i = 1, n do
  seed = (seed * 1103515245 + 12345) % 2147483648
  xs[i] = seed
end
sort(xs, 1, n)
local checksum = 0
for i = 1, n do
  if i > 1 and xs[i - 1] > xs[i] then error("not sorted at " .. i) end
  checksum = (checksum * 31 + xs[i]) % 1000000007
end
print(xs[1] .. " " .. xs[n] .. " " .. checksum)
