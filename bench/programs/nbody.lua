-- Structs of floats: five bodies under gravity, 200,000 steps.

local sqrt = math.sqrt

local SOLAR_MASS = 39.47841760435743
local DAYS = 365.24

local function bodies()
  return {
    { x = 0.0, y = 0.0, z = 0.0, vx = 0.0, vy = 0.0, vz = 0.0, mass = SOLAR_MASS },
    {
      x = 4.84143144246472090, y = -1.16032004402742839, z = -0.103622044471123109,
      vx = 0.00166007664274403694 * DAYS, vy = 0.00769901118419740425 * DAYS, vz = -0.0000690460016972063023 * DAYS,
      mass = 0.000954791938424326609 * SOLAR_MASS,
    },
    {
      x = 8.34336671824457987, y = 4.12479856412430479, z = -0.403523417114321381,
      vx = -0.00276742510726411190 * DAYS, vy = 0.00499852801234917238 * DAYS, vz = 0.0000230417297573763929 * DAYS,
      mass = 0.000285885980666130812 * SOLAR_MASS,
    },
    {
      x = 12.8943695621391310, y = -15.1111514016986312, z = -0.223307578892655734,
      vx = 0.00296460137564761618 * DAYS, vy = 0.00237847173959480950 * DAYS, vz = -0.0000296589568540237556 * DAYS,
      mass = 0.0000436624404335156298 * SOLAR_MASS,
    },
    {
      x = 15.3796971148509165, y = -25.9193146099879641, z = 0.179258772950371181,
      vx = 0.00268067772490389322 * DAYS, vy = 0.00162824170038242295 * DAYS, vz = -0.0000951592254519715870 * DAYS,
      mass = 0.0000515138902046611451 * SOLAR_MASS,
    },
  }
end

local function offset_momentum(system)
  local px, py, pz = 0.0, 0.0, 0.0
  for i = 1, #system do
    local b = system[i]
    px = px + b.vx * b.mass
    py = py + b.vy * b.mass
    pz = pz + b.vz * b.mass
  end
  system[1].vx = -px / SOLAR_MASS
  system[1].vy = -py / SOLAR_MASS
  system[1].vz = -pz / SOLAR_MASS
end

local function advance(system, dt)
  local n = #system
  for i = 1, n do
    local a = system[i]
    for j = i + 1, n do
      local b = system[j]
      local dx = a.x - b.x
      local dy = a.y - b.y
      local dz = a.z - b.z
      local distance = dx * dx + dy * dy + dz * dz
      local magnitude = dt / (distance * sqrt(distance))
      local mass_i = a.mass * magnitude
      local mass_j = b.mass * magnitude
      a.vx = a.vx - dx * mass_j
      a.vy = a.vy - dy * mass_j
      a.vz = a.vz - dz * mass_j
      b.vx = b.vx + dx * mass_i
      b.vy = b.vy + dy * mass_i
      b.vz = b.vz + dz * mass_i
    end
  end
  for i = 1, n do
    local b = system[i]
    b.x = b.x + dt * b.vx
    b.y = b.y + dt * b.vy
    b.z = b.z + dt * b.vz
  end
end

local function energy(system)
  local e = 0.0
  for i = 1, #system do
    local a = system[i]
    e = e + 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz)
    for j = i + 1, #system do
      local b = system[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      e = e - a.mass * b.mass / sqrt(dx * dx + dy * dy + dz * dz)
    end
  end
  return e
end

local system = bodies()
offset_momentum(system)
print(string.format("%.9f", energy(system)))
for _ = 1, 200000 do advance(system, 0.01) end
print(string.format("%.9f", energy(system)))
