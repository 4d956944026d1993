import RTCPrimitives
import RTCWire

/// One allocation on a TURN server (RFC 8656): a relayed address that all peers of the loop share.
///
/// Requests it, refreshes it, requests it again when it is lost, and gets a permission and, as soon as more than STUN
/// flows, a channel for each peer.
struct TURNAllocation {
  enum Phase {
    /// For the next attempt; `distantFuture`: there will be none.
    case waiting(until: Timestamp)
    case allocating(since: Timestamp)
    case allocated(TURNLease)
  }

  /// A datagram that may have to be repeated when the permission is there.
  struct HeldDatagram {
    let peer: SocketAddress
    let bytes: [UInt8]
    let sentAt: Timestamp
  }

  /// Datagrams that wait for a permission, at most.
  static let heldLimit = 32
  /// Datagrams that have waited longer are dropped.
  static let heldTime = TimeDelta.seconds(2)
  /// Addresses in one CreatePermission request, so that it stays small.
  static let addressesPerRequest = 16
  /// The number of consecutive Refresh requests without an answer, each sent seven times, after which the allocation
  /// counts as lost.
  static let maximumUnansweredRefreshes = 3
  /// An allocation that lived so long is asked for again at once when it is lost.
  static let provenTime = TimeDelta.seconds(60)
  /// REQUESTED-TRANSPORT: UDP's IP protocol number in the top byte (RFC 8656 §18.7).
  static let udpTransport: UInt32 = 17 << 24

  var link: ServerLink
  let startedAt: Timestamp
  var phase: Phase
  var permissions = TURNPermissions()
  var channels = TURNChannels()
  var held: [HeldDatagram] = []
  var backoff = RetryBackoff()
  /// Whether it was granted or refused once.
  var hasSettled = false
  /// An IPv6 address is asked for beside the IPv4 one (RFC 8656 §7.1), until a server does not like that.
  var wantsBothFamilies = true
  /// The server has no IPv4 addresses.
  var wantsV6Only = false
  /// Counts what `clear` has forgotten.
  private var generation = 0
  /// An earlier allocation of our address and port was given back in this attempt.
  var hasReleasedEarlier = false

  init(_ server: CandidateGatherer.Server, seed: UInt64, now: Timestamp) {
    link = ServerLink(server, seed: seed)
    startedAt = now
    phase = .waiting(until: now)
  }

  var lease: TURNLease? { if case .allocated(let lease) = phase { lease } else { nil } }
  var relayNumber: UInt16 { link.server.relay }

  var nextDeadline: Timestamp {
    switch phase {
    case .waiting(let time): return min(time, link.nextDeadline)
    case .allocating: return link.nextDeadline
    case .allocated(let lease):
      let refresh = link.isUnderWay(.refresh) ? .distantFuture : lease.refreshAt
      let tables = min(permissions.nextRefresh, channels.nextRefresh)
      return min(min(link.nextDeadline, tables), min(refresh, lease.expiresAt))
    }
  }

  // MARK: - Steps

  /// Asks for an allocation.
  mutating func allocate(now: Timestamp, into batch: inout DatagramBatch) {
    if case .allocating = phase {
    } else {
      phase = .allocating(since: now)
      link.takeRenewed()
    }
    send(.allocate, now: now, into: &batch)
  }

  mutating func deadlineReached(
    now: Timestamp, into batch: inout DatagramBatch, events: inout [CandidateGatherer.Event]
  ) {
    let generation = generation
    // A lost allocation takes its other requests with it.
    for (request, failure) in link.repeatDue(now: now, into: &batch) where generation == self.generation {
      gaveUp(request, failure, now: now, into: &batch, events: &events)
    }
    switch phase {
    case .waiting(let time) where time <= now:
      hasReleasedEarlier = false
      allocate(now: now, into: &batch)
    case .waiting, .allocating: break
    case .allocated(let lease) where lease.expiresAt <= now:
      lose(lease.isLast ? .credentialsExpired : .allocationLost, now: now, into: &batch, events: &events)
    case .allocated(let lease):
      if lease.refreshAt <= now, !link.isUnderWay(.refresh) { send(.refresh, now: now, into: &batch) }
      refreshTables(now: now, into: &batch)
    }
  }

  /// Other credentials: for the next allocation, and for the present attempt or one that was given up.
  mutating func renew(_ server: CandidateGatherer.Server, now: Timestamp, into batch: inout DatagramBatch) {
    guard server.username != link.server.username || server.credential != link.server.credential else { return }
    link.renew(server)
    if lease == nil { startAnew(now: now, into: &batch) }
  }

  /// Asks whether the allocation is still there: after silence, a sleep, or a change of the network.
  mutating func probe(now: Timestamp, into batch: inout DatagramBatch) {
    switch phase {
    case .waiting(let time) where time != .distantFuture: phase = .waiting(until: now)
    case .waiting, .allocating: break
    case .allocated(let lease):
      if !lease.isLast, !link.isUnderWay(.refresh) { send(.refresh, now: now, into: &batch) }
    }
  }

  /// Starts again from nothing, at once: our own address has changed, so the server does not know us any more.
  mutating func startAnew(now: Timestamp, into batch: inout DatagramBatch) {
    clear()
    backoff.reset()
    hasReleasedEarlier = false
    phase = .waiting(until: now)
    allocate(now: now, into: &batch)
  }

  /// Gives the allocation back. No answer is waited for.
  mutating func release(now: Timestamp, into batch: inout DatagramBatch) {
    if lease != nil { send(.release, now: now, into: &batch) }
    clear()
    phase = .waiting(until: .distantFuture)
  }

  /// Forgets what belongs to a lease.
  mutating func clear() {
    generation += 1
    link.cancelAll()
    permissions.removeAll()
    channels.removeAll()
    held.removeAll()
  }

  private mutating func refreshTables(now: Timestamp, into batch: inout DatagramBatch) {
    if permissions.nextRefresh <= now {
      for use in channels.uses { permissions.noteUse(use.ip, at: use.time) }
      ask(for: permissions.due(now: now), now: now, into: &batch)
    }
    for place in channels.due(now: now) { send(.channel(place), now: now, into: &batch) }
  }

  // MARK: - Requests

  mutating func ask(for ips: [IPAddress], now: Timestamp, into batch: inout DatagramBatch) {
    for start in stride(from: 0, to: ips.count, by: Self.addressesPerRequest) {
      let part = Array(ips[start..<min(ips.count, start + Self.addressesPerRequest)])
      send(.permissions(part), now: now, into: &batch)
    }
  }

  mutating func send(
    _ purpose: ServerTransaction.Purpose, isReissue: Bool = false, now: Timestamp, into batch: inout DatagramBatch
  ) {
    let (bothFamilies, v6Only) = (wantsBothFamilies, wantsV6Only)
    let peer: SocketAddress? = if case .channel(let place) = purpose { channels.peer(at: place) } else { nil }
    link.send(purpose, isReissue: isReissue, now: now, into: &batch) { writer in
      switch purpose {
      case .allocate:
        writer.write(.requestedTransport, Self.udpTransport)
        if v6Only {
          writer.write(.requestedAddressFamily, TURNAddressFamily.v6)
        } else if bothFamilies {
          writer.write(.additionalAddressFamily, TURNAddressFamily.v6)
        }
      case .release: writer.write(.lifetime, 0)
      case .permissions(let ips):
        for ip in ips { writer.writeXorAddress(.xorPeerAddress, SocketAddress(ip: ip, port: 0)) }
      case .channel(let place):
        writer.write(.channelNumber, UInt32(TURNChannels.number(of: place)) << 16)
        if let peer { writer.writeXorAddress(.xorPeerAddress, peer) }
      case .binding, .refresh: break
      }
    }
  }
}
