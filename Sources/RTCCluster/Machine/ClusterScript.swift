/// The scripts by which hubs change what they share. Redis runs each as a whole: nothing happens between its lines.
///
/// All keys begin with one prefix in braces, so that they are in one slot of a Redis Cluster. The prefix itself, which the
/// scripts name as their key, does not exist: so a node that moves the slot to another one runs no script with half of the
/// keys, but answers with `ASK`.
///
/// | key | value |
/// |---|---|
/// | `format` | the number of the format of this data (`ClusterScript.format`) |
/// | `epoch`, `born` | the number of this data and when it began: data that has been lost begins anew with another number |
/// | `primary` | the place of this server, if another one can take its place |
/// | `seq` | the number of the last change, which each message of the channel `changes` carries |
/// | `fence` | the last fencing token |
/// | `names` | a hash: name → JSON with hub, token, hash of the secret, rooms |
/// | `of:HUB` | the names of a hub |
/// | `count` | a hash: room → number of members |
/// | `hubs` | a sorted set: hub → last sign of life, in milliseconds of Redis' clock |
/// | `dead`, `until` | hubs that have failed: the time, and the end of the reservation of their names |
/// | `buried` | hubs that failed so long ago that their peers have left the lists and rooms |
/// | `used:LINK` | a hash: user of the link → number of the use that counted, or `1` if it cannot be given back any more |
/// | `revoked` | a sorted set: link → Unix time of its end |
/// | `mail:NAME` | a list: the numbers of the letters to a peer that its hub has not delivered |
/// | `letters` | a hash: number of a letter → its text |
/// | `posted` | a sorted set: number of a letter → the time at which it was sent |
/// | `letter` | the number of the last letter |
/// | `mailbytes` | a hash: name → bytes of the letters to this peer |
/// | `held`, `heldbytes` | a set: numbers of the letters that were sent while their receiver was away; and their bytes |
/// | `away` | a set: names whose owners have lost their connection to a hub |
/// | `sent` | a hash: hub → the number of its last message, so that none is sent twice |
/// | `streams` | a hash: stream → JSON with hub and its address; void if the hub has failed |
package enum ClusterScript: String, CaseIterable, Sendable {
  /// Arguments: hub; and, with the first beat of a connection, the place of the server if another one can take its place. A
  /// sign of life, and what is due. Returns the epoch, the last change, and 1 if the hub's names are kept.
  case beat
  /// Arguments: hub, name, hash, listed, dialect; and, if the claim is a use of a link, those of `use`. Returns `granted`
  /// with token, `new` or `moved`, `counted` or `known`, rooms, and letters (number and text in turn); `taken`; `wait` with
  /// milliseconds; or a refusal of `use`.
  case claim
  /// Arguments: hub, name, hash, listed, dialect, token, rooms as JSON. States a name that the hub serves already. Returns
  /// `kept` and the letters to it, `moved` (the owner is at another hub) or `lost` (the name has another owner).
  case keep
  /// Arguments: hub, name, token. The name is free.
  case release
  /// Arguments: hub, name, token, room, limit. Returns `granted`, `full`, or `lost`.
  case enter
  /// Arguments: hub, name, token, room.
  case exit
  /// Arguments: hub, number of the message at this hub, name of the receiver, text. Returns `posted`; `known` if the number
  /// is not greater than that of an earlier message; `unknown`; `full` if too many messages wait; or `later` if hubs still
  /// state their names.
  case post
  /// Arguments: hub, name, token, and `1` if the owner is connected to the hub, or `0`. Returns `letters` and, for an owner
  /// that is connected, the numbers and texts of those that wait, in turn; or `lost`.
  case letters
  /// Arguments: hub, name, token, number. The letters up to this one are delivered.
  case delivered
  /// Arguments: hub. Returns the epoch, the last change, the milliseconds in which hubs still state their names after a loss
  /// of data, and names and records in turn.
  case state
  /// Arguments: hub, link, uses, Unix time of its end, user, number of the use. Returns `counted`, `known` if the user has used
  /// the link before, `used-up`, `revoked`, or `wait` with milliseconds.
  case use
  /// Arguments: hub, link, user, number of the use.
  case giveBack
  /// Arguments: hub, JSON with lists of revoked links (`r`: link, end) and used ones (`u`: link, end, users). States what the
  /// hub knows. Returns the Unix time before which links that have ended are forgotten, and all revoked links and their ends
  /// in turn.
  case links
  /// Arguments: hub, stream, address of the hub. Returns `granted`, `taken`, or `wait` with milliseconds.
  case publish
  /// Arguments: hub, stream.
  case unpublish
  /// Arguments: hub, JSON with its address (`a`) and its streams (`n`). States the streams of the hub. Returns those of the
  /// others: stream, hub and address in turn.
  case streams
  /// Arguments: hub. The hub ends, and its peers will come back elsewhere.
  case leave

  /// The number of the format in which hubs keep what they share. It changes if a hub of an older version cannot read the
  /// data or the messages. Data without a number has the format 1.
  package static let format = 2

  /// How long after its last heartbeat a hub counts as running, in milliseconds.
  package static let lease = 3_000
  /// How long the peers of a failed hub keep their places in lists and rooms.
  package static let absence = 30_000
  /// How long the names of a failed hub are kept for their owners: the hub may be alive, without a way to Redis.
  package static let reservation = 600_000
  /// How long new names wait after data was lost, so that hubs can state theirs first.
  package static let grace = 3_000

  /// The text of the script.
  /// - Parameter clock: a Lua expression of the milliseconds.
  package func text(clock: String = redisClock) -> String {
    """
    local lease, absence, reservation, grace = \(Self.lease), \(Self.absence), \(Self.reservation), \(Self.grace)
    local function clock() \(clock) end

    """ + Self.library + Self.letterLibrary + Self.nameLibrary + Self.linkLibrary + Self.streamLibrary + body
  }

  /// The clock of Redis.
  package static let redisClock =
    "local t = redis.call('TIME') return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)"

  private static let library = """
    local p, me, now = KEYS[1], ARGV[1], clock()
    local function key(name) return p .. ':' .. name end
    -- Hubs that write another format are running. Otherwise their data may be taken over.
    local format = redis.call('GET', key('format')) or redis.call('EXISTS', key('epoch')) == 1 and '1'
    if format and format ~= '\(format)' and redis.call('ZCOUNT', key('hubs'), now - lease, '+inf') > 0 then
      return {'format', format}
    end
    if format ~= '\(format)' then redis.call('SET', key('format'), '\(format)') end
    local function tell(kind, change)
      change.k = kind
      change.q = redis.call('INCR', key('seq'))
      redis.call('PUBLISH', key('changes'), cjson.encode(change))
    end
    if redis.call('SETNX', key('epoch'), me .. '.' .. now) == 1 then redis.call('SET', key('born'), now) end
    -- The milliseconds in which hubs still state what they know after a loss of data.
    local function youth()
      local born = redis.call('GET', key('born'))
      if not born then redis.call('SET', key('born'), now) end
      return math.max(0, tonumber(born or now) + grace - now)
    end
    local function find(name)
      local text = redis.call('HGET', key('names'), name)
      return text and cjson.decode(text)
    end
    local function store(name, record) redis.call('HSET', key('names'), name, cjson.encode(record)) end
    local function nextFence()
      local fence = math.max(tonumber(redis.call('GET', key('fence')) or 0) + 1, now)
      redis.call('SET', key('fence'), string.format('%.0f', fence))
      return string.format('%.0f', fence)
    end

    """

  private static let nameLibrary = """
    local function count(room, change)
      if redis.call('HINCRBY', key('count'), room, change) <= 0 then redis.call('HDEL', key('count'), room) end
    end
    local function leaveRooms(record)
      for _, room in ipairs(record.r or {}) do count(room, -1) end
      record.r = nil
    end
    local function drop(name, record)
      leaveRooms(record)
      redis.call('HDEL', key('names'), name)
      redis.call('SREM', key('of:' .. record.h), name)
    end
    -- Whether a client that does not know the secret may have the name.
    local function isFree(record)
      if redis.call('ZSCORE', key('hubs'), record.h) then return false end
      local ends = redis.call('HGET', key('until'), record.h)
      return not ends or tonumber(ends) <= now
    end
    local function place(name, record, old)
      if old and old.h ~= me then redis.call('SREM', key('of:' .. old.h), name) end
      record.h = me
      redis.call('SADD', key('of:' .. me), name)
      store(name, record)
      tell('at', {n = name, h = me, f = record.f, s = record.s, l = record.l, d = record.d, r = record.r})
    end
    -- A hub that counted as failed states its names first, after its next heartbeat.
    local isKnown = redis.call('ZSCORE', key('hubs'), me)
    local function mine(name, fence)
      local record = find(name)
      if record and record.h == me and record.f == fence then return record end
    end

    """

  private var body: String {
    switch self {
    case .beat: Self.beatBody
    case .claim:
      """
      if not isKnown then return {'wait', 1000} end
      local name, hash = ARGV[2], ARGV[3]
      local old = find(name)
      local isOwner = old and old.s == hash
      if old and not isOwner and not isFree(old) then return {'taken'} end
      if not old or ARGV[6] then
        local waits = youth()
        if waits > 0 then return {'wait', waits} end
      end
      local counted = 'known'
      if ARGV[6] then
        counted = useLink(ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10])
        if counted ~= 'counted' and counted ~= 'known' then return {counted} end
      end
      local rooms = isOwner and old.r
      if old and not isOwner then
        drop(name, old)
        bounceAll(name)
      end
      local record = {f = nextFence(), s = hash, l = ARGV[4] == '1', d = ARGV[5], r = rooms or nil}
      place(name, record, old)
      redis.call('SREM', key('away'), name)
      return {'granted', record.f, isOwner and 'moved' or 'new', counted, rooms or {}, mail(name)}
      """
    case .keep:
      """
      if not isKnown then return {'unknown'} end
      local name, hash, fence, rooms = ARGV[2], ARGV[3], ARGV[6], cjson.decode(ARGV[7])
      local old = find(name)
      if old then
        if old.s ~= hash then return {'lost'} end
        if old.h ~= me and not old.x and tonumber(old.f) > tonumber(fence) then return {'moved'} end
        leaveRooms(old)
      end
      local record = {f = fence, s = hash, l = ARGV[4] == '1', d = ARGV[5]}
      if #rooms > 0 then record.r = rooms end
      for _, room in ipairs(rooms) do count(room, 1) end
      if tonumber(redis.call('GET', key('fence')) or 0) < tonumber(fence) then redis.call('SET', key('fence'), fence) end
      place(name, record, old)
      return {'kept', mail(name)}
      """
    case .release:
      """
      local record = mine(ARGV[2], ARGV[3])
      if record then
        drop(ARGV[2], record)
        tell('gone', {n = ARGV[2], f = record.f})
        bounceAll(ARGV[2])
      end
      return {'released'}
      """
    case .enter:
      """
      local record, room = mine(ARGV[2], ARGV[3]), ARGV[4]
      if not record or not isKnown then return {'lost'} end
      record.r = record.r or {}
      for _, other in ipairs(record.r) do if other == room then return {'granted'} end end
      if tonumber(redis.call('HGET', key('count'), room) or 0) >= tonumber(ARGV[5]) then return {'full'} end
      table.insert(record.r, room)
      count(room, 1)
      store(ARGV[2], record)
      tell('in', {n = ARGV[2], o = room, f = record.f})
      return {'granted'}
      """
    case .exit:
      """
      local record, room = mine(ARGV[2], ARGV[3]), ARGV[4]
      if not record then return {'lost'} end
      local rest = {}
      for _, other in ipairs(record.r or {}) do
        if other == room then count(room, -1) else table.insert(rest, other) end
      end
      record.r = #rest > 0 and rest or nil
      store(ARGV[2], record)
      tell('out', {n = ARGV[2], o = room, f = record.f})
      return {'left'}
      """
    case .state:
      """
      local reply = {redis.call('GET', key('epoch')), tonumber(redis.call('GET', key('seq')) or 0), youth()}
      local all = redis.call('HGETALL', key('names'))
      for i = 1, #all, 2 do
        local record = cjson.decode(all[i + 1])
        if not record.x or record.h == me then
          record.a = not redis.call('ZSCORE', key('hubs'), record.h)
          table.insert(reply, all[i])
          table.insert(reply, cjson.encode(record))
        end
      end
      return reply
      """
    case .post: Self.postBody
    case .letters: Self.lettersBody
    case .delivered: Self.deliveredBody
    case .use: Self.useBody
    case .giveBack: Self.giveBackBody
    case .links: Self.linksBody
    case .publish: Self.publishBody
    case .unpublish: Self.unpublishBody
    case .streams: Self.streamsBody
    case .leave:
      """
      redis.call('ZREM', key('hubs'), me)
      if redis.call('EXISTS', key('of:' .. me)) == 1 then
        redis.call('ZADD', key('dead'), now, me)
        redis.call('HSET', key('until'), me, now + absence)
      end
      redis.call('HDEL', key('sent'), me)
      forgetStreams(me)
      tell('hub-lost', {h = me})
      return {'left'}
      """
    }
  }

  private static let beatBody = """
    -- Another primary may lack the last changes: nothing new is granted until hubs have stated what they know.
    if ARGV[2] and redis.call('GET', key('primary')) ~= ARGV[2] then
      redis.call('SET', key('primary'), ARGV[2])
      redis.call('SET', key('born'), now)
    end
    redis.call('ZADD', key('hubs'), now, me)
    redis.call('ZREM', key('dead'), me)
    redis.call('ZREM', key('buried'), me)
    redis.call('HDEL', key('until'), me)
    for _, hub in ipairs(redis.call('ZRANGEBYSCORE', key('hubs'), '-inf', now - lease)) do
      redis.call('ZREM', key('hubs'), hub)
      redis.call('ZADD', key('dead'), now, hub)
      redis.call('HSET', key('until'), hub, now + reservation)
      forgetStreams(hub)
      tell('hub-lost', {h = hub})
    end
    for _, hub in ipairs(redis.call('ZRANGEBYSCORE', key('dead'), '-inf', now - absence, 'LIMIT', 0, 16)) do
      redis.call('ZREM', key('dead'), hub)
      redis.call('ZADD', key('buried'), redis.call('HGET', key('until'), hub) or now, hub)
      for _, name in ipairs(redis.call('SMEMBERS', key('of:' .. hub))) do
        local record = find(name)
        if record and record.h == hub then
          leaveRooms(record)
          record.x = true
          store(name, record)
          tell('gone', {n = name, f = record.f})
          bounceAll(name)
        end
      end
    end
    for _, hub in ipairs(redis.call('ZRANGEBYSCORE', key('buried'), '-inf', now, 'LIMIT', 0, 16)) do
      redis.call('ZREM', key('buried'), hub)
      redis.call('HDEL', key('until'), hub)
      redis.call('HDEL', key('sent'), hub)
      for _, name in ipairs(redis.call('SMEMBERS', key('of:' .. hub))) do
        local record = find(name)
        if record and record.h == hub then drop(name, record) end
      end
      redis.call('DEL', key('of:' .. hub))
    end
    bounceOld()
    return {redis.call('GET', key('epoch')), tonumber(redis.call('GET', key('seq')) or 0), isKnown and 1 or 0}
    """
}
