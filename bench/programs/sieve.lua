-- Flags in a sequence: the sieve of Eratosthenes below five million.

local function count_primes(limit)
  local composite = {}
  for i = 1, limit do composite[i] = false end
  local count = 0
  for n = 2, limit do
    if not composite[n] then
      count = count + 1
      local multiple = n * n
      while multiple <= limit do
        composite[multiple] = true
        multiple = multiple + n
      end
    end
  end
  return count
end

print(count_primes(5000000))
