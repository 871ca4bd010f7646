#!lua name=askloom

-- A spread block is a sorted set of the keys of its records, all of score 0, so that their bytes sort them. The hash
-- of a record has the name of the set, a colon and the key of the record. So is a partition of many aggregates.
local function record(block, member)
  return block .. ':' .. member
end

-- Records of a block in their order.
-- keys: the block. args: lowest and highest key as of BYLEX, asc or desc, how many (-1: all of them).
local function range(keys, args)
  local members
  if args[3] == 'desc' then
    members = redis.call('ZRANGE', keys[1], args[2], args[1], 'BYLEX', 'REV', 'LIMIT', '0', args[4])
  else
    members = redis.call('ZRANGE', keys[1], args[1], args[2], 'BYLEX', 'LIMIT', '0', args[4])
  end
  local rows = {}
  for i, member in ipairs(members) do
    rows[i] = redis.call('HGETALL', record(keys[1], member))
  end
  return rows
end

-- One page of the hashes whose keys match a pattern: where the next page starts (0: nowhere), then the hashes.
-- args: where it starts (first 0), the pattern, about how many.
local function page(_, args)
  local found = redis.call('SCAN', args[1], 'MATCH', args[2], 'TYPE', 'hash', 'COUNT', args[3])
  local rows = {}
  for i, key in ipairs(found[2]) do
    rows[i] = redis.call('HGETALL', key)
  end
  return {found[1], rows}
end

-- Lua takes some thousand arguments in one call, and pairs must stay together.
local CHUNK = 1000

local function each_chunk(command, key, list)
  for from = 1, #list, CHUNK do
    redis.call(command, key, unpack(list, from, math.min(from + CHUNK - 1, #list)))
  end
end

-- What a record keeps when its aggregate goes.
local KEPT = {n = true, system = true}

local function clear(key)
  local gone = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if not KEPT[field] then gone[#gone + 1] = field end
  end
  each_chunk('HDEL', key, gone)
  redis.call('PERSIST', key)
end

-- Versions and stamps are whole numbers that a double may not hold: they are compared as digits.
local function is_less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

-- Milliseconds since 1970, and digits of microseconds.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000), time[1] .. string.format('%06d', time[2])
end

-- An aggregate that expires says when; some time later Redis takes it away. Its version is lost then, so it goes by
-- the clock: what is made afterwards in its place has a higher one.
local HOUR = 60 * 60 * 1000

local function until_time(key, at)
  local _, now = clock()
  if is_less(redis.call('HGET', key, 'n') or '', now) then redis.call('HSET', key, 'n', now) end
  redis.call('HSET', key, 'expires', at)
  redis.call('PEXPIREAT', key, string.format('%.0f', tonumber(at) + HOUR))
end

-- Where copies follow their aggregates in calls of their own, these may arrive in any order. A row has the stamp of
-- the write that it follows, and one with a higher stamp stays. What is left of a deleted row keeps older ones away
-- until none can arrive any more. Of one write, a row that it puts is not deleted by it.
local DAYS = 10 * 24 * HOUR

local function is_newer(key, stamp, puts)
  local there = redis.call('HMGET', key, 'stamp', 'gone')
  local before = there[1] or ''
  return is_less(before, stamp) or (puts and before == stamp and there[2] ~= false)
end

local function put_stamped(key, stamp, list)
  if not is_newer(key, stamp, true) then return false end
  redis.call('DEL', key)
  redis.call('HSET', key, 'stamp', stamp)
  each_chunk('HSET', key, list)
  return true
end

local function drop_stamped(key, stamp)
  if not is_newer(key, stamp, false) then return false end
  local now = clock()
  local gone = string.format('%.0f', now + DAYS)
  redis.call('DEL', key)
  redis.call('HSET', key, 'stamp', stamp, 'gone', gone)
  redis.call('PEXPIREAT', key, gone)
  return true
end

-- What can be done to a key: which type it has, what follows (words, the last of which may be a stamp, and a list),
-- and what it does.
local STEPS = {
  next = {type = 'hash', words = 0, run = function(key) redis.call('HINCRBY', key, 'n', '1') end},
  at = {type = 'hash', words = 1, stamp = true, run = function(key, words) redis.call('HSET', key, 'n', words[1]) end},
  expire = {type = 'hash', words = 1, run = function(key, words) until_time(key, words[1]) end},
  clear = {type = 'hash', words = 0, run = clear},
  put = {type = 'hash', words = 0, list = 2, run = function(key, _, list) each_chunk('HSET', key, list) end},
  cut = {type = 'hash', words = 0, list = 1, run = function(key, _, list) each_chunk('HDEL', key, list) end},
  hash = {type = 'hash', words = 0, list = 2, run = function(key, _, list)
    redis.call('DEL', key)
    each_chunk('HSET', key, list)
  end},
  gone = {type = 'hash', words = 0, run = function(key) redis.call('DEL', key) end},
  row = {type = 'zset', words = 1, list = 2, run = function(key, words, list)
    redis.call('DEL', record(key, words[1]))
    each_chunk('HSET', record(key, words[1]), list)
    redis.call('ZADD', key, '0', words[1])
  end},
  norow = {type = 'zset', words = 1, run = function(key, words)
    redis.call('DEL', record(key, words[1]))
    redis.call('ZREM', key, words[1])
  end},
  list = {type = 'zset', words = 1, run = function(key, words) redis.call('ZADD', key, '0', words[1]) end},
  unlist = {type = 'zset', words = 1, run = function(key, words) redis.call('ZREM', key, words[1]) end},
  newer_hash = {type = 'hash', words = 1, stamp = true, list = 2, run = function(key, words, list)
    put_stamped(key, words[1], list)
  end},
  newer_gone = {type = 'hash', words = 1, stamp = true, run = function(key, words)
    drop_stamped(key, words[1])
  end},
  newer_row = {type = 'zset', words = 2, stamp = true, list = 2, run = function(key, words, list)
    if put_stamped(record(key, words[1]), words[2], list) then redis.call('ZADD', key, '0', words[1]) end
  end},
  newer_norow = {type = 'zset', words = 2, stamp = true, run = function(key, words)
    if drop_stamped(record(key, words[1]), words[2]) then redis.call('ZREM', key, words[1]) end
  end},
}

-- Whether an aggregate is as it was read. An empty version: there was none, or it was deleted, or its time is up.
local function is_as_read(key, version)
  local there = redis.call('HMGET', key, 'n', 'class', 'expires')
  if version ~= '' then return there[1] == version end
  if not there[2] then return true end
  local now = clock()
  return there[3] and tonumber(there[3]) <= now
end

-- Whether a block has no other records than these. The one of null, `{~}`, is no value that anybody takes.
local function is_free(key, members)
  if string.sub(key, -3) == '{~}' then return true end
  local count = redis.call('ZCARD', key)
  for _, member in ipairs(members) do
    if redis.call('ZSCORE', key, member) then count = count - 1 end
  end
  return count == 0
end

-- A write: everything that it was worked out from is checked, then all of it is done.
-- args: `if KEY VERSION` for every aggregate that was read, `free KEY MEMBERS` for every value that nobody else may
-- have, then the steps. KEY is the number of a key; a list starts with how many fields it has.
local function write(keys, args)
  local at = 0
  local function take()
    at = at + 1
    return args[at]
  end
  local function wrong(why)
    return redis.error_reply('WRONG ' .. why .. ' at argument ' .. at)
  end
  local function list(size)
    local length = tonumber(take())
    if not length or at + length * size > #args then return nil end
    local all = {}
    for i = 1, length * size do all[i] = take() end
    return all
  end
  local stale, taken = nil, nil
  local todo = {}
  while at < #args do
    local name = take()
    local key = keys[tonumber(take())]
    if not key then return wrong('no such key') end
    if name == 'if' then
      local version = take()
      if not version then return wrong('no version') end
      if not is_as_read(key, version) then stale = stale or key end
    elseif name == 'free' then
      local members = list(1)
      if not members then return wrong('too few arguments') end
      if not is_free(key, members) then taken = taken or key end
    else
      local step = STEPS[name]
      if not step then return wrong('no such step') end
      local type = redis.call('TYPE', key)['ok']
      if type ~= 'none' and type ~= step.type then return wrong('a key of type ' .. type) end
      local words, fields = {}, {}
      for i = 1, step.words do
        words[i] = take()
        if not words[i] then return wrong('too few arguments') end
      end
      if name == 'expire' and not tonumber(words[1]) then return wrong('no time') end
      if step.stamp and not string.match(words[step.words], '^[1-9]%d*$') then return wrong('no stamp') end
      if name == 'at' and not is_less(redis.call('HGET', key, 'n') or '', words[1]) then
        return wrong('a version that is not higher')
      end
      if step.list then
        fields = list(step.list)
        if not fields then return wrong('too few arguments') end
      end
      todo[#todo + 1] = {step.run, key, words, fields}
    end
  end
  if stale then return redis.error_reply('CONFLICT ' .. stale) end
  if taken then return redis.error_reply('TAKEN ' .. taken) end
  for _, step in ipairs(todo) do
    step[1](step[2], step[3], step[4])
  end
  return redis.status_reply('OK')
end

redis.register_function{function_name = 'askloom_range', callback = range, flags = {'no-writes'}}
redis.register_function{
  function_name = 'askloom_page', callback = page, flags = {'no-writes', 'allow-cross-slot-keys'}
}
redis.register_function('askloom_write', write)
