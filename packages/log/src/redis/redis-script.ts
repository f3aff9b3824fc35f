/**
 * The one script through which everything is written: a list of operations in, a list of their results out, as one
 * atomic step of the server. What it answered is remembered under the writer's name, so that a batch whose answer was
 * lost with its connection can be sent again and is not applied again.
 *
 * Redis runs it on one primary. A session's keys share a hash tag; the index and the documents do not.
 *
 * ARGV: writer, batch number, milliseconds to add to the server's clock (0 outside of tests), the channel that tells of
 * growth, then the operations, each a word and its arguments as written by `redis-operations.ts`. Results are texts, the first word their kind.
 */
export const batchScript = `
-- Globals are slow in Redis, and this runs for every entry ever written.
local call, try, argv = redis.call, redis.pcall, ARGV
local tonumber, match, gmatch = tonumber, string.match, string.gmatch
local at = 4
local function take()
  at = at + 1
  return argv[at]
end
local function takeNumber()
  at = at + 1
  return tonumber(argv[at])
end
local function whole(number)
  return string.format('%.0f', number)
end

local memory = 'concerto:writer:' .. argv[1]
local remembered = call('HGET', memory, argv[2])
if remembered then return remembered end

local time = call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + tonumber(argv[3])

-- Heads are read once and written once a batch, however many appends a session has in it. A session's numbers are its
-- heads by stream; its other fields are what the batch changed beside them.
local sessions, touched = {}, {}
local function sessionOf(name)
  local session = sessions[name]
  if not session then
    local key = 'concerto:{' .. name .. '}:'
    session = { key = key, name = name, meta = key .. 'meta' }
    sessions[name] = session
    touched[#touched + 1] = session
  end
  return session
end
-- A script has no way back: what somebody else has put where our keys are is found before anything is written. A key
-- that is not there yet becomes what we make of it.
local kindsOfKeys = {}
local function faultOf(key, kind)
  local found = kindsOfKeys[key]
  if not found then
    found = call('TYPE', key).ok
    if found == 'none' then found = kind end
    kindsOfKeys[key] = found
  end
  if found ~= kind then return 'WRONGTYPE ' .. key .. ' is a ' .. found end
end
-- The head of a stream, or nothing and what is wrong: a key of another kind, or an entry that is not ours beyond it.
local function headOf(session, stream)
  local head = session[stream]
  if head then return head end
  local stored, key = try('HGET', session.meta, stream), session.key .. stream
  if type(stored) == 'table' then return nil, stored.err .. ' ' .. session.meta end
  head = tonumber(stored or 0)
  local beyond = try('XRANGE', key, head + 1 .. '-0', '+', 'COUNT', 1)
  if beyond.err then return nil, beyond.err .. ' ' .. key end
  if beyond[1] then return nil, 'FOREIGNENTRY ' .. key .. ' ' .. beyond[1][1] end
  session[stream] = head
  return head
end
local function change(session, field, value)
  if not session.changed then session.changed = {} end
  session.changed[field] = value
end
local function known(session, field)
  return session.changed and session.changed[field] or call('HGET', session.meta, field)
end

-- The last aside's id is kept: its position tells whether it still follows the head.
local function nextAside(session, stream, head)
  local position, place = match(known(session, stream .. ':aside') or '0-0', '^(%d+)-(%d+)$')
  if tonumber(position) ~= head then place = 0 end
  local id = whole(head) .. '-' .. whole(tonumber(place) + 1)
  change(session, stream .. ':aside', id)
  return id
end

local function documentKey(collection) return 'concerto:documents:' .. collection end

-- Of keys that are not lists there is nothing of ours to take away.
local function unlist(collection, key, stored)
  local sort, expires, tag = match(stored, '^(%x+)|(%d*)|([^|]*)|')
  try('ZREM', documentKey(collection) .. ':order', sort .. key)
  if tag ~= '' then try('ZREM', documentKey(collection) .. ':tag' .. tag, sort .. key) end
  if expires ~= '' then try('ZREM', 'concerto:expiring', collection .. ' ' .. key) end
end
local function isLive(stored)
  local expires = match(stored, '^%x+|(%d*)|')
  return expires == '' or tonumber(expires) > now
end
-- What keeps a document whose seven arguments follow the place from being put.
local function documentFault(place)
  local key, tag = documentKey(argv[place + 2]), argv[place + 6]
  return faultOf(key, 'hash')
    or faultOf(key .. ':order', 'zset')
    or (tag ~= '' and faultOf(key .. ':tag' .. tag, 'zset'))
    or faultOf('concerto:collections', 'set')
    or faultOf('concerto:expiring', 'zset')
end
local function removeDocument(collection, key)
  if faultOf(documentKey(collection), 'hash') then return end
  local stored = call('HGET', documentKey(collection), key)
  if not stored then return end
  unlist(collection, key, stored)
  call('HDEL', documentKey(collection), key)
end
local function putDocument(mode, collection, key, sort, expires, tag, value)
  if mode == 'delete' then
    removeDocument(collection, key)
    return true
  end
  local place = sort .. '|' .. expires .. '|' .. tag .. '|'
  local stored = call('HGET', documentKey(collection), key)
  if stored then
    if mode == 'create' and isLive(stored) then return false end
    if string.sub(stored, 1, #place) == place then
      call('HSET', documentKey(collection), key, place .. value)
      return true
    end
    unlist(collection, key, stored)
  end
  call('HSET', documentKey(collection), key, place .. value)
  call('ZADD', documentKey(collection) .. ':order', 0, sort .. key)
  if tag ~= '' then call('ZADD', documentKey(collection) .. ':tag' .. tag, 0, sort .. key) end
  if expires ~= '' then call('ZADD', 'concerto:expiring', expires, collection .. ' ' .. key) end
  call('SADD', 'concerto:collections', collection)
  return true
end
-- A few at a time, by whoever writes a document.
local swept = false
local function sweep()
  if swept then return end
  swept = true
  for _, member in ipairs(call('ZRANGEBYSCORE', 'concerto:expiring', '-inf', whole(now), 'LIMIT', 0, 20)) do
    local collection, key = match(member, '^(%S+) (.*)$')
    removeDocument(collection, key)
    call('ZREM', 'concerto:expiring', member)
  end
end

-- The lease, or nothing and what is wrong.
local function leaseOf(name)
  local key = 'concerto:lease:' .. name
  local fault = faultOf(key, 'hash') or faultOf('concerto:leases', 'zset')
  if fault then return nil, 'failed ' .. fault end
  local found = call('HMGET', key, 'epoch', 'owner', 'expires')
  return { key = key, epoch = tonumber(found[1] or 0), owner = found[2] or '', expires = tonumber(found[3] or 0) }
end
local function holds(lease, epoch) return lease.owner ~= '' and lease.epoch == epoch end

-- Writes one entry for each letter; gives what was wrong, if anything was: then nothing of it is written.
local function write(session, name, kinds)
  local key, head = session.key .. name, session[name]
  for i = 1, #kinds do
    local kind, data = string.byte(kinds, i), argv[at + 2]
    local reply
    if kind == 97 then -- a: aside
      reply = try('XADD', key, nextAside(session, name, head), 'type', argv[at + 1], 'data', data)
    elseif kind == 115 then -- s: stamped with its position
      reply = try('XADD', key, head + 1 .. '-0', 'type', argv[at + 1], 'data', data .. head + 1 .. '}')
    else -- p: plain
      reply = try('XADD', key, head + 1 .. '-0', 'type', argv[at + 1], 'data', data)
    end
    at = at + 2
    if type(reply) == 'table' then
      return reply.err
    elseif kind ~= 97 then
      head = head + 1
      session.grew = true
    end
  end
  session[name] = head
  -- The stream is named rather than its head noted: it may grow again in this batch.
  if session.written == nil or session.written == name then session.written = name else change(session, name, true) end
end

-- Of what every batch needs that grows something; looked at once.
local growthKnown
local function growthFault()
  if growthKnown == nil then
    local fault = faultOf('concerto:sessions', 'zset') or faultOf('concerto:growth', 'string') or faultOf('concerto:grown', 'stream')
    if not fault and not tonumber(call('GET', 'concerto:growth') or 0) then fault = 'WRONGTYPE concerto:growth is no number' end
    growthKnown = fault or false
  end
  return growthKnown
end

-- Parts of one append's header; the tables are the same for all of them.
local names, kinds = {}, {}

-- A header is 'a', how many documents, the session, and ' STREAM:EXPECTED:KINDS' for each stream; 'f' has the lease and
-- the epoch of its fence before the entries. Two arguments an entry: more of them would cost more than the entry does.
local function append(header)
  local letter, documents, name, streams = match(header, '^(%a)(%d+) (%S+)(.*)$')
  local session = sessionOf(name)
  local refused
  if letter == 'f' then
    local lease, fault = leaseOf(take())
    local epoch = takeNumber()
    refused = fault or (not holds(lease, epoch) and 'fenced ' .. lease.epoch)
  end
  local count, entries = 0, 0
  for stream, expected, letters in gmatch(streams, ' (%a+):(%d*):(%a*)') do
    count = count + 1
    names[count], kinds[count] = stream, letters
    entries = entries + #letters
    local head, fault = headOf(session, stream)
    if fault and not refused then refused = 'failed ' .. fault end
    if expected ~= '' and not refused and tonumber(expected) ~= head then
      refused = 'conflict ' .. count .. ' ' .. head
    end
  end
  local inDocuments = at + entries * 2
  local last = inDocuments + documents * 7
  local fault = not refused and growthFault()
  for place = inDocuments, last - 7, 7 do fault = fault or documentFault(place) end
  if fault then refused = 'failed ' .. fault end
  if refused then
    at = last
    return refused
  end
  local result = 'appended'
  for i = 1, count do
    fault = kinds[i] ~= '' and write(session, names[i], kinds[i])
    if fault then
      at = last
      return 'failed ' .. fault
    end
    result = result .. ' ' .. session[names[i]]
  end
  for place = inDocuments, last - 7, 7 do
    putDocument(unpack(argv, place + 1, place + 7))
    sweep()
  end
  at = last
  return result
end

local operations = {}

function operations.document()
  local fault = documentFault(at)
  at = at + 7
  if fault then return 'failed ' .. fault end
  local done = putDocument(unpack(argv, at - 6, at))
  sweep()
  return done and 'yes' or 'no'
end

function operations.trim()
  local session, stream, through = sessionOf(take()), take(), takeNumber()
  local head, fault = headOf(session, stream)
  if fault then return 'failed ' .. fault end
  local trimmed = tonumber(known(session, stream .. ':trimmed') or 0)
  through = math.min(through, head)
  if through > trimmed then
    call('XTRIM', session.key .. stream, 'MINID', '=', whole(through + 1) .. '-0')
    change(session, stream .. ':trimmed', through)
  end
  return 'yes'
end

function operations.acquire()
  local name, owner, ttl = take(), take(), takeNumber()
  local lease, fault = leaseOf(name)
  if fault then return fault end
  if lease.owner ~= '' and lease.owner ~= owner and lease.expires > now then
    return 'held ' .. whole(lease.expires - now) .. ' ' .. lease.owner
  end
  local epoch = lease.epoch + 1
  call('HSET', lease.key, 'epoch', whole(epoch), 'owner', owner, 'expires', whole(now + ttl))
  call('ZADD', 'concerto:leases', 0, name)
  return 'acquired ' .. whole(epoch)
end

function operations.renew()
  local name, owner, ttl, epoch = take(), take(), takeNumber(), takeNumber()
  local lease, fault = leaseOf(name)
  if fault then return fault end
  if not holds(lease, epoch) then return 'no' end
  call('HSET', lease.key, 'owner', owner, 'expires', whole(now + ttl))
  return 'yes'
end

function operations.release()
  local name, epoch = take(), takeNumber()
  local lease, fault = leaseOf(name)
  if fault then return fault end
  if holds(lease, epoch) then call('HSET', lease.key, 'owner', '', 'expires', '0') end
  return 'yes'
end

function operations.ping()
  call('SET', 'concerto:ping', whole(now))
  return 'yes'
end

function operations.loadStream()
  local session, stream, head, trimmed = sessionOf(take()), take(), takeNumber(), takeNumber()
  session[stream] = head
  change(session, stream, true)
  change(session, stream .. ':trimmed', trimmed)
  return 'yes'
end

function operations.loadEntry()
  local session, stream, position, place, kind, data = sessionOf(take()), take(), take(), take(), take(), take()
  local id = position .. '-' .. place
  local reply = try('XADD', session.key .. stream, id, 'type', kind, 'data', data)
  if type(reply) == 'table' then return 'failed ' .. reply.err end
  if place ~= '0' then change(session, stream .. ':aside', id) end
  return 'yes'
end

function operations.loadLease()
  local name, epoch = take(), take()
  call('HSET', 'concerto:lease:' .. name, 'epoch', epoch, 'owner', '', 'expires', '0')
  call('ZADD', 'concerto:leases', 0, name)
  return 'yes'
end

local results = {}
while at < #argv do
  local operation = take()
  local named = operations[operation]
  results[#results + 1] = named and named() or append(operation)
end

local grown = {}
for _, session in ipairs(touched) do
  local written, added = session.written, 0
  if written then added = call('HSET', session.meta, written, session[written]) end
  if session.changed then
    local fields = {}
    for field, value in pairs(session.changed) do
      fields[#fields + 1] = field
      fields[#fields + 1] = value == true and session[field] or value
    end
    added = added + call('HSET', session.meta, unpack(fields))
  end
  if added > 0 then call('ZADD', 'concerto:sessions', 0, session.name) end
  if session.grew then grown[#grown + 1] = session.name end
end
-- Numbered, so that a listener knows when it missed one, and kept for a while, so that it can ask what it missed. With the
-- batch that did it, so that a number which comes a second time is not taken for the first.
if #grown > 0 then
  local count = call('INCR', 'concerto:growth')
  local names, by = table.concat(grown, ' '), argv[1] .. '.' .. argv[2]
  local added = try('XADD', 'concerto:grown', 'MAXLEN', '~', 10000, count .. '-0', 'sessions', names, 'by', by)
  if type(added) == 'table' and added.err then
    -- Of a count that somebody has set back: who listens asks for all.
    call('DEL', 'concerto:grown')
    call('XADD', 'concerto:grown', count .. '-0', 'sessions', names, 'by', by)
  end
  call('PUBLISH', argv[4], count .. ' @by:' .. by .. ' ' .. names)
end

local answer = cjson.encode(results)
call('HSET', memory, ARGV[2], answer)
call('HDEL', memory, whole(tonumber(ARGV[2]) - 16))
if call('PTTL', memory) < 3600000 then call('PEXPIRE', memory, 86400000) end
return answer
`;
