/// The scripts of used and revoked links.
extension ClusterScript {
  /// For how long after the end of a link its uses are kept, in seconds: the clocks of the hubs may differ.
  private static let day = 86_400

  static let linkLibrary = """
    local function keepUntil(used, ends) if ends ~= '' then redis.call('EXPIREAT', used, tonumber(ends) + \(day)) end end
    -- A use by a user who has used the link before makes the use that counted one that cannot be given back.
    local function useLink(link, uses, ends, user, number)
      if redis.call('ZSCORE', key('revoked'), link) then return 'revoked' end
      local used = key('used:' .. link)
      if redis.call('HEXISTS', used, user) == 1 then
        redis.call('HSET', used, user, '1')
        return 'known'
      end
      if redis.call('HLEN', used) >= tonumber(uses) then return 'used-up' end
      redis.call('HSET', used, user, number)
      keepUntil(used, ends)
      return 'counted'
    end
    local function revoke(link, ends)
      if redis.call('ZSCORE', key('revoked'), link) then return end
      redis.call('ZADD', key('revoked'), ends == '' and '+inf' or ends, link)
      tell('revoked', {n = link, x = ends})
    end

    """

  static let useBody = """
    local waits = youth()
    if waits > 0 then return {'wait', waits} end
    return {useLink(ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])}
    """

  static let giveBackBody = """
    local used = key('used:' .. ARGV[2])
    if redis.call('HGET', used, ARGV[3]) == ARGV[4] then redis.call('HDEL', used, ARGV[3]) end
    return {'given back'}
    """

  static let linksBody = """
    local told = cjson.decode(ARGV[2])
    for _, link in ipairs(told.r) do revoke(link[1], link[2]) end
    for _, link in ipairs(told.u) do
      local used = key('used:' .. link[1])
      for i = 3, #link do redis.call('HSETNX', used, link[i], '1') end
      keepUntil(used, link[2])
    end
    local oldest = math.floor(now / 1000) - \(day)
    redis.call('ZREMRANGEBYSCORE', key('revoked'), '-inf', oldest)
    local reply = redis.call('ZRANGE', key('revoked'), 0, -1, 'WITHSCORES')
    table.insert(reply, 1, oldest)
    return reply
    """
}
