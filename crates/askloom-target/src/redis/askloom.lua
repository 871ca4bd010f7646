#!lua name=askloom

-- A spread block is a sorted set of the keys of its records, all of score 0, so that their bytes sort them. The hash
-- of a record has the name of the set, a colon and the key of the record.
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
end

-- What can be done to a key: which type it has, what follows (a member, a list), and what it does.
local STEPS = {
  next = {type = 'hash', run = function(key) redis.call('HINCRBY', key, 'n', '1') end},
  clear = {type = 'hash', run = clear},
  put = {type = 'hash', list = 2, run = function(key, _, list) each_chunk('HSET', key, list) end},
  cut = {type = 'hash', list = 1, run = function(key, _, list) each_chunk('HDEL', key, list) end},
  hash = {type = 'hash', list = 2, run = function(key, _, list)
    redis.call('DEL', key)
    each_chunk('HSET', key, list)
  end},
  gone = {type = 'hash', run = function(key) redis.call('DEL', key) end},
  row = {type = 'zset', member = true, list = 2, run = function(key, member, list)
    redis.call('DEL', record(key, member))
    each_chunk('HSET', record(key, member), list)
    redis.call('ZADD', key, '0', member)
  end},
  norow = {type = 'zset', member = true, run = function(key, member)
    redis.call('DEL', record(key, member))
    redis.call('ZREM', key, member)
  end},
}

-- A write: everything that it was worked out from is checked, then all of it is done.
-- args: `if KEY VERSION` for every aggregate that was read (an empty version: there was none), then the steps.
-- KEY is the number of a key; a list starts with how many fields it has.
local function write(keys, args)
  local at = 0
  local function take()
    at = at + 1
    return args[at]
  end
  local function wrong(why)
    return redis.error_reply('WRONG ' .. why .. ' at argument ' .. at)
  end
  local stale = nil
  local todo = {}
  while at < #args do
    local name = take()
    local key = keys[tonumber(take())]
    if not key then return wrong('no such key') end
    if name == 'if' then
      local version = take()
      if not version then return wrong('no version') end
      if (redis.call('HGET', key, 'n') or '') ~= version then stale = stale or key end
    else
      local step = STEPS[name]
      if not step then return wrong('no such step') end
      local type = redis.call('TYPE', key)['ok']
      if type ~= 'none' and type ~= step.type then return wrong('a key of type ' .. type) end
      local member, list = nil, {}
      if step.member then member = take() end
      if step.list then
        local length = tonumber(take())
        if not length or at + length * step.list > #args then return wrong('too few arguments') end
        for i = 1, length * step.list do list[i] = take() end
      end
      if step.member and not member then return wrong('no member') end
      todo[#todo + 1] = {step.run, key, member, list}
    end
  end
  if stale then return redis.error_reply('CONFLICT ' .. stale) end
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
