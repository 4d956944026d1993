public import RTCDTLS
public import RTCEngine
public import RTCMedia
package import RTCNet
public import RTCPrimitives

/// The media plane of one process: a thread, a UDP port, a certificate, and all peers that share them.
public final class PeerLoop: Sendable {
  /// The options of a loop.
  public struct Options: Sendable {
    /// UDP port for all peers; 0 picks a free one.
    public var port: UInt16 = 0
    /// STUN and TURN servers for all peers.
    public var iceServers: [ICEServer] = []
    /// The kinds of candidates that all peers offer and use.
    public var iceTransportPolicy = ICETransportPolicy.all
    /// UDP ports to choose a free one from; nil: any. Ignored if `port` is set.
    public var portRange: ClosedRange<UInt16>?
    /// The interfaces whose addresses are offered, by name; nil: those that lead to the remote peer. Addresses of
    /// containers, virtual machines and VPNs are left out if they do not.
    public var interfaces: InterfaceFilter?
    /// Hubs and services by which remote peers are found: what leads to them leads to the peers.
    public var servers: [IPAddress] = []
    /// Offer loopback addresses even when the machine has others. For tests and for peers in the same namespace.
    public var includesLoopback = false
    /// Offer a TCP port too, for remote peers whose UDP is blocked (RFC 6544): the number of the UDP port where that is
    /// free.
    public var servesTCP = false
    /// Addresses at which remote peers reach this machine although no interface has them; offered in addition.
    public var advertised: [AdvertisedAddress] = []
    /// Ask the router to forward the port that all peers share, by PCP or NAT-PMP, and offer the address outside.
    public var mapsPort = false
    /// Receives sentences for the user, such as that an advertised name was not found. Called on the loop's thread; must not
    /// wait.
    public var onNotice: (@Sendable (String) -> Void)?
    /// PEM with the certificates trusted for TURN servers over TLS; nil: those of this machine.
    package var trustedCertificates: String?
    /// The environment with the proxy's variables; nil: the process's own.
    package var environment: [String: String]?
    /// At most this many peers at a time, unconnected ones included.
    public var maximumPeers = 2_048

    /// A free port on every address of this machine.
    public init() {}

    /// The machine's addresses at which a port of these IP versions may be reached.
    func offered(of all: [InterfaceAddress], hasIPv4: Bool, hasIPv6: Bool) -> [InterfaceAddress] {
      NetworkInterfaces.hostAddresses(
        from: all.filter { interfaces?.admits($0.name) ?? true }, includeLoopback: includesLoopback
      ).filter { $0.address.isV4 ? hasIPv4 : hasIPv6 }
    }
  }

  /// The memory limit of all peers' received video packets that wait to become frames.
  let waitingMemory = ByteBudget(bytes: PeerLimits.waitingBytesInAll)
  /// The number of refusals, of peers and of their parts.
  package let refusals = RefusalCounts()
  let events: EventLoop
  private let holder = TableHolder()
  private let mapper = PortMapper()
  /// The options of the loop.
  package let options: Options
  /// The certificate that identifies this process to every peer; new at each start.
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
    if options.mapsPort { try mapPort() }
  }

  /// Asks the router for the shared port, and for the TCP port of the same number where there is one.
  private func mapPort() throws(SystemError) {
    let (events, holder, onNotice) = (events, holder, options.onNotice)
    let transports: [MappedTransport] = options.servesTCP ? [.udp, .tcp] : [.udp]
    try mapper.start(transports.map { WantedMapping($0, events.port) }) { event in
      if let sentence = event.notice(of: "media port") { onNotice?(sentence) }
      events.post { holder.table?.advertised.map(event.wanted, to: event.external, MonotonicClock.now()) }
    }
  }

  /// The loop's table of peers. Only on the loop.
  var table: PeerTable {
    events.assertOnLoop()
    return holder.table!  // set before anything posted runs
  }

  /// The UDP port that all peers share.
  public var port: UInt16 { events.port }

  /// The addresses at which peers can reach us: every usable interface address, with the shared port.
  public func hostAddresses() -> [SocketAddress] {
    let all = (try? NetworkInterfaces.addresses()) ?? []
    return options.offered(of: all, hasIPv4: events.hasIPv4, hasIPv6: events.hasIPv6)
      .map { SocketAddress(ip: $0.address, port: events.port) }
  }

  /// Sets the STUN and TURN servers of all peers; allocations at servers that stay continue.
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

  /// The counters of all UDP ports; nil once the loop has ended.
  package func networkCounters() async -> NetCounters? {
    let events = events
    return await withCheckedContinuation { continuation in
      let isPosted = events.post { continuation.resume(returning: events.counters) }
      if !isPosted { continuation.resume(returning: nil) }
    }
  }

  /// Makes a video track for any number of peers: encoded once, sent by the loop.
  /// - Parameters:
  ///   - name: the name in descriptions; by default a track of its own in the stream `rtcast`.
  ///   - onKeyFrameRequest: a viewer needs a key frame. Called on the loop's thread; must not wait.
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

  /// Makes a video track with several renditions for any number of peers; each viewer gets one of them.
  /// `OutgoingVideoTrack.setSource` sets the handlers of viewers' requirements.
  /// - Parameters:
  ///   - name: the name in descriptions; by default a track of its own in the stream `rtcast`.
  ///   - renditions: the renditions, the best first; `OutgoingVideoTrack.setRenditions` changes them.
  ///   - preferred: the rendition of every viewer that can decode it; viewers begin there, and return with each of its
  ///     key frames.
  ///   - rungs: the renditions that are rungs; see `OutgoingVideoTrack.setRenditions`.
  ///   - candidates: formats that may be made later: `RenditionDemand.takers` counts the viewers that can decode each.
  public func makeVideoTrack(
    name: TrackName? = nil, renditions: [RenditionFormat], preferred: Rendition? = nil, rungs: Rungs? = nil,
    candidates: [VideoPayloadFormat] = []
  ) -> OutgoingVideoTrack {
    let holder = holder
    return OutgoingVideoTrack(
      loop: events, name: name ?? Self.makeName("video"), renditions: renditions, preferred: preferred, rungs: rungs,
      candidates: candidates, refusals: refusals,
      setDeadline: { holder.table?.setDeadline($0, of: $1) })
  }

  /// Makes an audio track for any number of peers: encoded once, sent by the loop. `OutgoingAudioTrack.setSource` sets
  /// the handler of listeners' requirements.
  /// - Parameter name: the name in descriptions; by default a track of its own in the stream `rtcast`.
  public func makeAudioTrack(name: TrackName? = nil) -> OutgoingAudioTrack {
    OutgoingAudioTrack(loop: events, name: name ?? Self.makeName("audio"))
  }

  /// All tracks have the same stream, so that they are played in sync.
  private static func makeName(_ kind: String) -> TrackName {
    TrackName(streamID: "rtcast", trackID: kind + "-" + String(UInt64.random(in: .min ... .max), radix: 36))
  }

  /// Says goodbye to the peers that are left, which end by that, and ends the thread once everything posted so far was
  /// sent. Any thread, any number of times; not under a lock that callbacks of tracks and connections take.
  public func stop() {
    mapper.stop()
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

/// Network interfaces by name, as `--interface` takes them: `eth0,wlan0` or `!docker0`.
public struct InterfaceFilter: Hashable, Sendable {
  /// The allowed interfaces; empty: all except the refused.
  public var allowed: Set<String>
  /// The refused interfaces.
  public var refused: Set<String>

  /// The names as they are.
  public init(allowed: Set<String> = [], refused: Set<String> = []) {
    self.allowed = allowed
    self.refused = refused
  }

  /// Reads names with commas between them, those to be left out with `!` in front. Nil without a name, and for an empty
  /// one.
  public init?(_ text: String) {
    let names = text.split(separator: ",", omittingEmptySubsequences: false)
    guard names.allSatisfy({ !$0.isEmpty && $0 != "!" }) else { return nil }
    self.init(
      allowed: Set(names.filter { !$0.hasPrefix("!") }.map(String.init)),
      refused: Set(names.filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) }))
  }

  /// An interface of this name may be used.
  public func admits(_ name: String) -> Bool {
    (allowed.isEmpty || allowed.contains(name)) && !refused.contains(name)
  }
}
