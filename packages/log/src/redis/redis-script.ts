/**
 * The one script through which everything is written: a list of operations in, a list of their results out, as one
 * atomic step of the server. What it answered is remembered under the writer's name, so that a batch whose answer was
 * lost with its connection can be sent again and is not applied again.
 *
 * Redis runs it on one primary. A session's keys share a hash tag; the index and the documents do not.
 *
 * ARGV: writer, batch number, milliseconds to add to the server's clock (0 outside of tests), then the operations,
 * each a letter and its arguments as written by `redis-operations.ts`.
 */
export const batchScript = `
local at = 3
local function take()
  at = at + 1
  return ARGV[at]
end
local function takeNumber()
  return tonumber(take())
end
local function whole(number)
  return string.format('%.0f', number)
end

local memory = 'concerto:writer:' .. ARGV[1]
local remembered = redis.call('HGET', memory, ARGV[2])
if remembered then return remembered end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + tonumber(ARGV[3])

-- Heads are read once and written once a batch, however many appends a session has in it.
local sessions = {}
local function sessionOf(name)
  local session = sessions[name]
  if not session then
    session = { key = 'concerto:{' .. name .. '}:', heads = {}, changed = {}, grew = false }
    session.meta = session.key .. 'meta'
    sessions[name] = session
  end
  return session
end
local function headOf(session, stream)
  local head = session.heads[stream]
  if not head then
    head = tonumber(redis.call('HGET', session.meta, stream) or 0)
    session.heads[stream] = head
  end
  return head
end
local function setHead(session, stream, head)
  session.heads[stream] = head
  session.changed[stream] = head
end

local function add(session, stream, id, kind, data)
  local reply = redis.pcall('XADD', session.key .. stream, id, 'type', kind, 'data', data)
  if type(reply) == 'table' and reply.err then return reply.err end
  return nil
end

-- The last aside's id is kept: its position tells whether it still follows the head.
local function nextAside(session, stream, head)
  local field = stream .. ':aside'
  local last = session.changed[field] or redis.call('HGET', session.meta, field) or '0-0'
  local position, place = string.match(last, '^(%d+)-(%d+)$')
  if tonumber(position) ~= head then place = 0 end
  local id = whole(head) .. '-' .. whole(tonumber(place) + 1)
  session.changed[field] = id
  return id
end

local function documentKey(collection) return 'concerto:documents:' .. collection end

local function unlist(collection, key, stored)
  local sort, expires, tag = string.match(stored, '^(%x+)|(%d*)|([^|]*)|')
  redis.call('ZREM', documentKey(collection) .. ':order', sort .. key)
  if tag ~= '' then redis.call('ZREM', documentKey(collection) .. ':tag' .. tag, sort .. key) end
  if expires ~= '' then redis.call('ZREM', 'concerto:expiring', collection .. ' ' .. key) end
end
local function isLive(stored)
  local expires = string.match(stored, '^%x+|(%d*)|')
  return expires == '' or tonumber(expires) > now
end
local function removeDocument(collection, key)
  local stored = redis.call('HGET', documentKey(collection), key)
  if not stored then return end
  unlist(collection, key, stored)
  redis.call('HDEL', documentKey(collection), key)
end
local function putDocument(mode, collection, key, sort, expires, tag, value)
  if mode == 'delete' then
    removeDocument(collection, key)
    return true
  end
  local stored = redis.call('HGET', documentKey(collection), key)
  if stored then
    if mode == 'create' and isLive(stored) then return false end
    unlist(collection, key, stored)
  end
  redis.call('HSET', documentKey(collection), key, sort .. '|' .. expires .. '|' .. tag .. '|' .. value)
  redis.call('ZADD', documentKey(collection) .. ':order', 0, sort .. key)
  if tag ~= '' then redis.call('ZADD', documentKey(collection) .. ':tag' .. tag, 0, sort .. key) end
  if expires ~= '' then redis.call('ZADD', 'concerto:expiring', expires, collection .. ' ' .. key) end
  redis.call('SADD', 'concerto:collections', collection)
  return true
end
local function takeDocument()
  return { take(), take(), take(), take(), take(), take(), take() }
end
-- A few at a time, by whoever writes a document.
local swept = false
local function sweep()
  if swept then return end
  swept = true
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', 'concerto:expiring', '-inf', whole(now), 'LIMIT', 0, 20)) do
    local collection, key = string.match(member, '^(%S+) (.*)$')
    removeDocument(collection, key)
    redis.call('ZREM', 'concerto:expiring', member)
  end
end

local function leaseOf(name)
  local found = redis.call('HMGET', 'concerto:lease:' .. name, 'epoch', 'owner', 'expires')
  return { key = 'concerto:lease:' .. name, epoch = tonumber(found[1] or 0), owner = found[2] or '', expires = tonumber(found[3] or 0) }
end
local function holds(lease, epoch) return lease.owner ~= '' and lease.epoch == epoch end

local function takeStreams()
  local streams = {}
  for i = 1, takeNumber() do
    local stream = { name = take(), expected = take(), entries = {} }
    for j = 1, takeNumber() do stream.entries[j] = { take(), take(), take() } end
    streams[i] = stream
  end
  return streams
end
local function takeDocuments()
  local documents = {}
  for i = 1, takeNumber() do documents[i] = takeDocument() end
  return documents
end

local function write(session, name, entries)
  for _, entry in ipairs(entries) do
    local how, kind, data = entry[1], entry[2], entry[3]
    local head = headOf(session, name)
    if how == 'aside' then
      local failed = add(session, name, nextAside(session, name, head), kind, data)
      if failed then return failed end
      if head == 0 then setHead(session, name, 0) end
    else
      local position = whole(head + 1)
      if how == 'stamped' then data = data .. position .. '}' end
      local failed = add(session, name, position .. '-0', kind, data)
      if failed then return failed end
      setHead(session, name, head + 1)
      session.grew = true
    end
  end
  return nil
end

local operations = {}

function operations.append()
  local session = sessionOf(take())
  local fence, epoch = take(), takeNumber()
  local streams, documents = takeStreams(), takeDocuments()
  if fence ~= '' then
    local lease = leaseOf(fence)
    if not holds(lease, epoch) then return { 'fenced', lease.epoch } end
  end
  for i, stream in ipairs(streams) do
    local head = headOf(session, stream.name)
    if stream.expected ~= '' and tonumber(stream.expected) ~= head then return { 'conflict', i, head } end
  end
  local result = { 'appended' }
  for _, stream in ipairs(streams) do
    local failed = write(session, stream.name, stream.entries)
    if failed then return { 'failed', failed } end
    result[#result + 1] = headOf(session, stream.name)
  end
  for _, document in ipairs(documents) do putDocument(unpack(document)) end
  if #documents > 0 then sweep() end
  return result
end

function operations.document()
  local done = putDocument(unpack(takeDocument()))
  sweep()
  return { done and 1 or 0 }
end

function operations.trim()
  local session, stream, through = sessionOf(take()), take(), takeNumber()
  local trimmed = tonumber(redis.call('HGET', session.meta, stream .. ':trimmed') or 0)
  through = math.min(through, headOf(session, stream))
  if through > trimmed then
    redis.call('XTRIM', session.key .. stream, 'MINID', '=', whole(through + 1) .. '-0')
    session.changed[stream .. ':trimmed'] = through
  end
  return { 1 }
end

function operations.acquire()
  local name, owner, ttl = take(), take(), takeNumber()
  local lease = leaseOf(name)
  if lease.owner ~= '' and lease.owner ~= owner and lease.expires > now then
    return { 'held', lease.owner, lease.expires - now }
  end
  local epoch = lease.epoch + 1
  redis.call('HSET', lease.key, 'epoch', whole(epoch), 'owner', owner, 'expires', whole(now + ttl))
  redis.call('ZADD', 'concerto:leases', 0, name)
  return { 'acquired', epoch }
end

function operations.renew()
  local lease, owner, ttl, epoch = leaseOf(take()), take(), takeNumber(), takeNumber()
  if not holds(lease, epoch) then return { 0 } end
  redis.call('HSET', lease.key, 'owner', owner, 'expires', whole(now + ttl))
  return { 1 }
end

function operations.release()
  local lease, epoch = leaseOf(take()), takeNumber()
  if holds(lease, epoch) then redis.call('HSET', lease.key, 'owner', '', 'expires', '0') end
  return { 1 }
end

function operations.ping()
  redis.call('SET', 'concerto:ping', whole(now))
  return { 1 }
end

function operations.loadStream()
  local session, stream, head, trimmed = sessionOf(take()), take(), takeNumber(), takeNumber()
  setHead(session, stream, head)
  session.changed[stream .. ':trimmed'] = trimmed
  return { 1 }
end

function operations.loadEntry()
  local session, stream, position, place, kind, data = sessionOf(take()), take(), take(), take(), take(), take()
  local id = position .. '-' .. place
  local failed = add(session, stream, id, kind, data)
  if failed then return { 'failed', failed } end
  if place ~= '0' then session.changed[stream .. ':aside'] = id end
  return { 1 }
end

function operations.loadLease()
  local name, epoch = take(), take()
  redis.call('HSET', 'concerto:lease:' .. name, 'epoch', epoch, 'owner', '', 'expires', '0')
  redis.call('ZADD', 'concerto:leases', 0, name)
  return { 1 }
end

local results = {}
while at < #ARGV do results[#results + 1] = operations[take()]() end

local grown = {}
for name, session in pairs(sessions) do
  local fields = {}
  for field, value in pairs(session.changed) do
    fields[#fields + 1] = field
    fields[#fields + 1] = type(value) == 'number' and whole(value) or value
  end
  if #fields > 0 and redis.call('HSET', session.meta, unpack(fields)) > 0 then
    redis.call('ZADD', 'concerto:sessions', 0, name)
  end
  if session.grew then grown[#grown + 1] = name end
end
if #grown > 0 then
  local count = whole(redis.call('INCR', 'concerto:growth'))
  for _, name in ipairs(grown) do redis.call('ZADD', 'concerto:grown', count, name) end
  redis.call('PUBLISH', 'concerto:grown', count .. ' ' .. table.concat(grown, ' '))
end

local answer = cjson.encode(results)
redis.call('HSET', memory, ARGV[2], answer)
redis.call('HDEL', memory, whole(tonumber(ARGV[2]) - 16))
if redis.call('PTTL', memory) < 3600000 then redis.call('PEXPIRE', memory, 86400000) end
return answer
`;
