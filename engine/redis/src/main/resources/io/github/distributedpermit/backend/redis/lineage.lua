-- Which server has written the data last, and since when: a server that continues the data of another one may lack some of it.
-- Follows serve.lua; claim.lua calls it. The same in Java is spi.step.Grace, and for tests spi.step.Lineage.
--
-- The lineage is a string, one for each prefix, in a cluster one for each slot: the epoch of the writer, the epoch that is closed,
-- since when (the start of the server while the lineage is virgin), the longest lease that members have stated in this window and in
-- the one before, when this window ends, whether it is virgin (no member has shown that it remembers data that is not here), the first 16 characters of run id and node id (outside a cluster, of a closed server, the vote that closed
-- it), the salt, and the epochs whose data was taken over whole.
--
-- The epoch is that of the server, its lower half mixed with the salt, which is the time when the lineage was created. FLUSHALL
-- does not change the epoch of the server, but removes the lineage. So a claim that was sent before it remembers another epoch
-- than those that follow, and reclaims nothing, however late it arrives. claims.lua and close.lua compute the same.
--
-- A grace lasts for the longest lease, because a member may hold a permit for its own lease after the store has lost the record of
-- it, whichever member claims first. A lease counts in the window in which it is stated, and in the next one. No window is shorter
-- than a lease that counts in it. So a lease counts for as long as a permit under it can be valid, and a lease that no member uses any
-- more stops counting. The same in Java is spi.step.StatedLeases, for tests.

-- Its bytes, which claims.lua, close.lua and open.lua use too: epoch from 1 on, closed 5, since 9, stated 17, before 25, window_end
-- 33, virgin 41, run 42, node 58, salt 74, adopted 76.
local LINEAGE_PACKING, LINEAGE_LENGTH, MOST_ADOPTED = '<I4I4ddddBc16c16I2', 75, 16
local NO_NAME = string.rep('-', 16)

local function read_lineage()
  local packed = call('GET', KEYS[6])
  if not packed or #packed < LINEAGE_LENGTH then
    return { epoch = 0, closed = 0, since = 0, stated = 0, before = 0, window_end = 0, virgin = false, run = NO_NAME, node = NO_NAME,
      salt = math.floor(op.now / 1000) % 65536, adopted = '' }
  end
  local epoch, closed, since, stated, before, window_end, virgin, run, node, salt = struct.unpack(LINEAGE_PACKING, packed)
  return { epoch = epoch, closed = closed, since = since, stated = stated, before = before, window_end = window_end,
    virgin = virgin == 1, run = run, node = node, salt = salt, adopted = string.sub(packed, LINEAGE_LENGTH + 1) }
end

-- Writes the lineage if it has changed. It has no epoch where the server does not say which one it is.
local function write_lineage(l)
  if l.changed and l.epoch ~= 0 then
    l.changed = false
    write('SET', KEYS[6], struct.pack(LINEAGE_PACKING, l.epoch, l.closed, l.since, l.stated, l.before, l.window_end,
      l.virgin and 1 or 0, l.run, l.node, l.salt) .. l.adopted)
  end
end

local function longest_lease(l)
  return math.max(l.stated, l.before)
end

-- A member states its lease, or one that it knows of another member.
local function state_lease(l, lease)
  if op.now >= l.window_end then
    l.before, l.stated, l.changed = l.stated, lease, true
    l.window_end = op.now + longest_lease(l)
  elseif lease > l.stated then
    l.stated, l.window_end, l.changed = lease, math.max(l.window_end, op.now + lease), true
  end
end

-- A loss was found: each lease that counts now counts for as long as permits of before the loss can be valid.
local function restart_leases(l)
  l.stated = longest_lease(l)
  l.window_end = op.now + l.stated
end

-- Whether data of that epoch is complete here.
local function covers(l, epoch)
  if epoch == l.epoch then
    return true
  end
  for i = 1, #l.adopted, 4 do
    if struct.unpack('<I4', string.sub(l.adopted, i, i + 3)) == epoch then
      return true
    end
  end
  return false
end

-- What the server says about itself: run id, node id, whether it was a replica before, when it started, and the nodes of its
-- cluster that serve slots.
local function identify()
  local server, replication = info('server'), info('replication')
  local run = string.match(server, 'run_id:(%w+)') or NO_NAME
  local uptime = tonumber(string.match(server, 'uptime_in_seconds:(%d+)') or 0)
  local second = string.match(replication, 'master_replid2:(%x+)') or '0'
  local node, serving = NO_NAME, {}
  if op.clustered then
    local nodes = redis.pcall('CLUSTER', 'NODES')
    for id, flags, rest in string.gmatch(type(nodes) == 'string' and nodes or '', '(%x+) %S+ (%S+)([^\n]*)') do
      local known = string.sub(id .. NO_NAME, 1, 16)
      if string.find(flags, 'myself', 1, true) then
        node = known
      end
      local master = string.find(flags, 'master', 1, true) and not string.find(flags, 'fail', 1, true)
      serving[known] = master and string.find(rest, 'connected %d') ~= nil
    end
  end
  return { run = string.sub(run .. NO_NAME, 1, 16), node = node, promoted = string.find(second, '[^0]') ~= nil,
    started = (math.floor(op.now / 1000000) - uptime) * 1000000, serving = serving } -- the second in which it started
end

-- The clock of the server was set back to before `since`, so that times which were stored before can't be compared with it: a grace
-- would last too long, and whether a key was checked before or after the loss is unknown. So the data counts as that of another
-- server, and a grace of one lease begins. That is as long as a loss needs at most, since the loss was before.
local function expect_loss(l)
  l.salt = (l.salt + 1 + math.floor(op.now / 1000) % 65535) % 65536 -- never the same, as in open.lua
  l.run, l.node = NO_NAME, NO_NAME
end

-- Compares the data with the server that continues it. Returns whether a member has shown that data of this epoch was lost
-- which the server took for new.
local function follow(l, epoch, known_epoch, of_node)
  local missed, changed = false, l.epoch ~= epoch
  -- what the member knows of another slot, which has another salt
  local knows_node = of_node and known_epoch - known_epoch % 65536 == epoch - epoch % 65536
  if changed then
    local own = identify()
    local since = op.now
    if l.epoch == 0 then
      -- a slot that was never used has no lineage either: what the member knows of the whole node decides
      l.virgin = (known_epoch == 0 and not own.promoted) or knows_node
      since = l.virgin and own.started or op.now
    elseif (l.run == own.run and not own.promoted) or (l.node ~= own.node and own.serving[l.node]) then
      l.adopted = string.sub(struct.pack('<I4', l.epoch) .. l.adopted, 1, 4 * MOST_ADOPTED)
      since = l.since
      if l.closed == l.epoch then -- still a former master: only its epoch is another one
        l.closed, own.node = epoch, l.node -- the vote that closed it stays in the place of the node
      end
    else
      l.virgin, l.adopted = false, ''
      restart_leases(l)
    end
    l.epoch, l.run, l.node, l.since = epoch, own.run, own.node, since
  end
  if l.virgin and known_epoch ~= 0 and not knows_node and not covers(l, known_epoch) then
    l.virgin, l.since, missed, changed = false, op.now, true, true
    restart_leases(l)
  end
  l.changed = l.changed or changed
  return missed
end

-- Whether the server was closed as a former master. Its replication id may change without a loss since then, when it has had no
-- replica for long or gets its first one. Then it takes its data over whole, and stays closed under the new epoch.
local function is_closed(l)
  local epoch = l.closed ~= 0 and server_epoch(l.salt) or 0
  if epoch ~= 0 and epoch ~= l.epoch and l.closed == l.epoch then
    follow(l, epoch, 0, false)
    write_lineage(l) -- now, because a claim that is refused stores nothing
  end
  return epoch ~= 0 and l.closed == epoch
end

-- Grants nothing new until then but what members have reclaimed and returned.
local function start_grace(from, lasts, over)
  op.grace = { start = lasts and from or -1, over = over, pool = 0, tail = '' }
end

-- Drops the records of the key: those of another epoch are incomplete, however complete they look.
local function forget()
  if not op.fresh then
    local fields = call('HGETALL', STATE)
    for i = 1, #fields, 2 do
      if not string.find(fields[i], '[^%w_-]') then -- the other names are fields of the key
        call('HDEL', STATE, fields[i])
      end
    end
    for i = 2, 4 do
      for _, entry in ipairs(call('ZRANGE', KEYS[i], 0, -1)) do
        if entry ~= '' then -- the placeholder of a cluster
          call('ZREM', KEYS[i], entry)
        end
      end
    end
    op.written = true
  end
  op.used, op.queued, op.lease, op.tomb, op.life = 0, 0, math.huge, math.huge, 0
  op.records, op.changed, op.head = {}, {}, false
end

-- Whether the key was served as that of a new server, and then a claim of another key has shown that the server was not new, but
-- had lost its data.
local function went_on_before_a_loss(l)
  local knows = op.grace and op.grace.start == l.since
  return op.epoch ~= 0 and op.checked < l.since and not l.virgin and not knows
end

-- Compares the server with the data, if this is due before the claim: before each that may grant. No earlier check can stand for it,
-- because all that is stored may have been written by another server, on another clock. Returns whether the records of the key are
-- void.
local function check(l, known_epoch, of_node, checks_epoch, validly_held, wanted, recorded, known_lease, new_server_grace)
  local now = op.now
  local foreign = known_epoch ~= 0 and known_epoch ~= op.epoch
  local set_back = l.since > now
  if set_back then
    expect_loss(l)
  end
  local due = set_back or op.fresh or checks_epoch or foreign or l.epoch ~= op.epoch or l.closed == op.epoch or (validly_held > recorded and not op.grace)
    or went_on_before_a_loss(l) or wanted > validly_held or op.queued > 0
  local epoch = due and server_epoch(l.salt) or 0
  if epoch == 0 then
    return false -- not due, or the server does not say
  end
  local missed = follow(l, epoch, known_epoch, of_node)
  if known_epoch ~= 0 and known_epoch ~= l.epoch then -- the member knows data that this server may not have
    state_lease(l, known_lease)
  end
  write_lineage(l)
  local lost = op.fresh or (op.epoch ~= 0 and not covers(l, op.epoch))
  if lost then
    forget()
    op.grace = false
    local claimed_back = op.fresh and validly_held > 0
    local from = claimed_back and now or l.since
    local whole = claimed_back or not l.virgin
    local over = from + (whole and longest_lease(l) or new_server_grace)
    if over > now then
      start_grace(from, whole, over)
    end
  elseif (missed or went_on_before_a_loss(l)) and l.since + longest_lease(l) > now then
    start_grace(l.since, true, l.since + longest_lease(l))
  end
  op.epoch, op.checked = epoch, now
  return lost
end
