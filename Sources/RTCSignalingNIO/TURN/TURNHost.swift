import RTCNet
public import RTCPrimitives
import RTCTURN

/// The TURN server of a hub: a thread that owns the server's UDP and TCP port, the ports that it relays from, and the streams that
/// come over the hub's own port.
public final class TURNHost: Sendable {
  /// The settings of the server.
  public struct Options: Sendable {
    /// The UDP and TCP port; 0 picks a free one.
    public var port: UInt16 = 3_478
    /// The one address to listen on; nil: every address.
    public var address: IPAddress?
    /// The ports to relay from.
    public var relayPorts: ClosedRange<UInt16> = 49_152...65_535
    /// The secret of the credentials, which the hub has as well.
    public var secret: [UInt8]
    /// The addresses outside of a NAT that forwards all ports of this machine, at most one of each family.
    public var outside: [IPAddress] = []
    /// Whether peers at private addresses are allowed.
    public var allowsPrivatePeers = false
    /// At most this many allocations at a time.
    public var allocations = 1_024
    /// Bytes of data that an allocation relays in a second, in each direction.
    public var bytesPerSecond: Int64 = 2_500_000
    /// Receives sentences for the user. Called on the server's thread; must not wait.
    public var onNotice: (@Sendable (String) -> Void)?

    /// A server on the usual port, with credentials by this secret.
    public init(secret: [UInt8]) { self.secret = secret }

    func configuration() -> TURNServerConfiguration {
      var configuration = TURNServerConfiguration(users: .timeLimited(secret: secret))
      configuration.allowsPrivatePeers = allowsPrivatePeers
      configuration.limits.allocations = allocations
      configuration.limits.allocationsPerNetwork = max(1, min(allocations, 256))
      configuration.limits.bytesPerSecond = bytesPerSecond
      return configuration
    }
  }

  /// The number of the UDP and TCP port.
  public var port: UInt16 { events.port }

  private let events: EventLoop
  private let holder = TURNLoopHolder()
  private let watch: NetworkWatch

  /// Opens the port and starts the thread.
  /// - Throws: `TURNHostError` when the port cannot be had.
  public init(_ options: Options) throws(TURNHostError) {
    let udp = UDPPort.Options(port: options.port, address: options.address)
    do throws(SystemError) {
      let (events, holder) = (try EventLoop(port: UDPPort(udp), name: "rtcast-turn"), holder)
      self.events = events
      watch = try NetworkWatch { _ in events.post { holder.loop?.addressesChanged() } }
      try events.start { loop in
        let handler = TURNLoop(loop, options)
        holder.loop = handler
        return handler
      }
    } catch {
      throw TURNHostError(reason: "\(error)")
    }
  }

  /// Ends all allocations and the thread.
  public func stop() {
    watch.stop()
    events.stop()
  }

  /// Lets clients exchange data with this UDP port of this machine.
  public func open(port: UInt16) {
    let holder = holder
    events.post { holder.loop?.open(port: port) }
  }

  /// The figures for `/metrics`.
  func counters() async -> TURNServerCounters? {
    let (events, holder) = (events, holder)
    return await withCheckedContinuation { continuation in
      let isPosted = events.post { continuation.resume(returning: holder.loop?.counters) }
      if !isPosted { continuation.resume(returning: nil) }
    }
  }

  // MARK: - Streams of the hub's port

  /// Takes a stream that came to the hub's port. It is closed if there are too many.
  func openStream(from remote: SocketAddress, at local: SocketAddress, _ client: TURNChannelClient) {
    let holder = holder
    let isPosted = events.post {
      client.number = holder.loop?.openStream(from: remote, at: local, client)
      if client.number == nil { client.close() }
    }
    if !isPosted { client.close() }
  }

  /// Bytes of such a stream.
  func received(_ bytes: [UInt8], from client: TURNChannelClient) {
    let holder = holder
    events.post {
      if let number = client.number { holder.loop?.received(bytes.span, on: number, now: MonotonicClock.now()) }
    }
  }

  /// Such a stream has ended.
  func streamEnded(_ client: TURNChannelClient) {
    let holder = holder
    events.post {
      if let number = client.number { holder.loop?.streamEnded(number) }
      client.number = nil
    }
  }
}

/// The reason why a TURN server does not start.
public struct TURNHostError: Error, Sendable {
  /// A sentence for people.
  public let reason: String
}

/// Carries the handler from the loop's thread to work that is posted to it; read and written there only.
private final class TURNLoopHolder: @unchecked Sendable {
  var loop: TURNLoop?
}
