public import RTCDTLS
public import RTCEngine
public import RTCMedia
package import RTCNet
public import RTCPrimitives

/// The media plane of one process: a thread, a UDP port, a certificate, and all peers that share them.
public final class PeerLoop: Sendable {
  /// What a loop is made with.
  public struct Options: Sendable {
    /// UDP port for all peers; 0 picks a free one.
    public var port: UInt16 = 0
    /// STUN and TURN servers for all peers.
    public var iceServers: [ICEServer] = []
    /// Which candidates are offered and used, of all peers.
    public var iceTransportPolicy = ICETransportPolicy.all
    /// UDP ports to choose a free one from; nil: any. Of no meaning where `port` is set.
    public var portRange: ClosedRange<UInt16>?
    /// Interfaces whose addresses are offered, by name; nil: those that lead to the remote peer. The addresses of
    /// containers, virtual machines and VPNs are kept back where they do not.
    public var interfaces: InterfaceFilter?
    /// Hubs and services by which remote peers are found: what leads to them leads to the peers.
    public var servers: [IPAddress] = []
    /// Offer loopback addresses even when the machine has others. For tests and for peers in the same namespace.
    public var includesLoopback = false
    /// Offer a TCP port too, for remote peers whose UDP is blocked (RFC 6544): the number of the UDP port where that is
    /// free.
    public var servesTCP = false
    /// PEM with the certificates that vouch for TURN servers over TLS; nil: those that this machine trusts.
    package var trustedCertificates: String?
    /// Where the proxy is found, if there is one; nil: the process's own.
    package var environment: [String: String]?
    /// At most this many peers at a time, unconnected ones included.
    public var maximumPeers = 2_048

    /// A free port on every address of this machine.
    public init() {}

    /// Those of the machine's addresses at which a port of these IP versions may be reached.
    func offered(of all: [InterfaceAddress], hasIPv4: Bool, hasIPv6: Bool) -> [InterfaceAddress] {
      NetworkInterfaces.hostAddresses(
        from: all.filter { interfaces?.admits($0.name) ?? true }, includeLoopback: includesLoopback
      ).filter { $0.address.isV4 ? hasIPv4 : hasIPv6 }
    }
  }

  /// What packets of video of all peers may have that wait to become frames.
  let waitingMemory = ByteBudget(bytes: PeerLimits.waitingBytesInAll)
  /// What was refused, of peers and of what is made of them.
  package let refusals = RefusalCounts()
  let events: EventLoop
  private let holder = TableHolder()
  /// What the loop was made with.
  package let options: Options
  /// Identifies this process to every peer; made anew at each start.
  public let certificate: DTLSCertificate

  /// Opens the port and starts the thread.
  public init(_ options: Options = Options()) throws {
    self.options = options
    certificate = try DTLSCertificate()
    var udp = UDPPort.Options(port: options.port)
    udp.portRange = options.portRange
    events = try EventLoop(port: UDPPort(udp))
    let (holder, refusals) = (holder, refusals)
    try events.start { loop in
      let table = PeerTable(loop: loop, options: options, refusals: refusals, now: MonotonicClock.now())
      holder.table = table
      return table
    }
  }

  /// The loop's table of peers. Only on the loop.
  var table: PeerTable {
    events.assertOnLoop()
    return holder.table!  // set before anything posted runs
  }

  /// The UDP port that all peers share.
  public var port: UInt16 { events.port }

  /// Where peers may reach us now: every usable interface address, with the shared port.
  public func hostAddresses() -> [SocketAddress] {
    let all = (try? NetworkInterfaces.addresses()) ?? []
    return options.offered(of: all, hasIPv4: events.hasIPv4, hasIPv6: events.hasIPv6)
      .map { SocketAddress(ip: $0.address, port: events.port) }
  }

  /// Asks these STUN and TURN servers from now on, for all peers; allocations at servers that stay go on.
  public func setICEServers(_ servers: [ICEServer]) {
    let holder = holder
    events.post { holder.table?.iceServers = servers }
  }

  /// How far this machine can be reached, as found so far.
  public func gatheringReport() async -> GatheringReport? {
    let holder = holder
    return await withCheckedContinuation { continuation in
      let isPosted = events.post { continuation.resume(returning: holder.table?.sharedSockets.report) }
      if !isPosted { continuation.resume(returning: nil) }
    }
  }

  /// What all UDP ports have done so far; nil once the loop has ended.
  package func networkCounters() async -> NetCounters? {
    let events = events
    return await withCheckedContinuation { continuation in
      let isPosted = events.post { continuation.resume(returning: events.counters) }
      if !isPosted { continuation.resume(returning: nil) }
    }
  }

  /// A video that any number of peers may send: encoded once, fanned out on the loop.
  /// - Parameters:
  ///   - name: what descriptions call it; a track of its own in the stream `rtcast` unless said otherwise.
  ///   - onKeyFrameRequest: a viewer needs a key frame. Called on the loop; must not wait.
  public func makeVideoTrack(
    name: TrackName? = nil, onKeyFrameRequest: @escaping @Sendable () -> Void
  ) -> OutgoingVideoTrack {
    let track = makeVideoTrack(name: name, renditions: [])
    track.setSource(onKeyFrameRequest: { _ in
      onKeyFrameRequest()
      return .coming
    })
    return track
  }

  /// A video of several renditions that any number of peers may send, each viewer one of them. Whoever makes the frames
  /// hears what viewers need by `OutgoingVideoTrack.setSource`.
  /// - Parameters:
  ///   - name: what descriptions call it; a track of its own in the stream `rtcast` unless said otherwise.
  ///   - renditions: what there is, the best first; `OutgoingVideoTrack.setRenditions` changes it.
  ///   - preferred: the rendition that every viewer belongs on whose remote peer can take it; viewers begin there, and
  ///     come back with each key frame of it.
  ///   - side: which of them is the side rung to the first; see `OutgoingVideoTrack.setRenditions`.
  ///   - candidates: what may yet be made: `RenditionDemand.takers` says how many viewers can take each.
  public func makeVideoTrack(
    name: TrackName? = nil, renditions: [RenditionFormat], preferred: Rendition? = nil, side: Rendition? = nil,
    candidates: [VideoPayloadFormat] = []
  ) -> OutgoingVideoTrack {
    let holder = holder
    return OutgoingVideoTrack(
      loop: events, name: name ?? Self.makeName("video"), renditions: renditions, preferred: preferred, side: side,
      candidates: candidates, refusals: refusals,
      setDeadline: { holder.table?.setDeadline($0, of: $1) })
  }

  /// A sound that any number of peers may send: encoded once, fanned out on the loop. Whoever makes the packets hears
  /// what listeners need by `OutgoingAudioTrack.setSource`.
  /// - Parameter name: what descriptions call it; a track of its own in the stream `rtcast` unless said otherwise.
  public func makeAudioTrack(name: TrackName? = nil) -> OutgoingAudioTrack {
    OutgoingAudioTrack(loop: events, name: name ?? Self.makeName("audio"))
  }

  /// The same stream for all: they are played in step.
  private static func makeName(_ kind: String) -> TrackName {
    TrackName(streamID: "rtcast", trackID: kind + "-" + String(UInt64.random(in: .min ... .max), radix: 36))
  }

  /// Says goodbye to the peers that are left, which end by that, and ends the thread once everything posted so far was
  /// sent. Any thread, any number of times; not under a lock that callbacks of tracks and connections take.
  public func stop() {
    let holder = holder
    events.post { holder.table?.closeAll(now: MonotonicClock.now()) }
    events.stop()
  }
}

/// Hands the table, which is made on the loop's thread, to the connections that live there.
private final class TableHolder: @unchecked Sendable {
  // Why unchecked: written once and read on the loop's thread alone.
  var table: PeerTable?
}
