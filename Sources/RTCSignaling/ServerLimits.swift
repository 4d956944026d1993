/// How much a signaling server lets its clients have.
public struct ServerLimits: Sendable, Equatable {
  /// Bytes of a request's head, request line included: browsers stay far below.
  public var headBytes = 16_384
  /// Bytes of a body: an offer with many codecs and candidates is some 10 KiB.
  public var bodyBytes = 262_144
  /// Open connections.
  public var connections = 1024
  /// Open connections of one network (an IPv4 address, or a /64 of IPv6), this machine and trusted proxies excepted. A browser
  /// opens six; behind one address may be a school.
  public var connectionsOfNetwork = 64
  /// Offers that wait for an answer at the same time.
  public var waitingOffers = 256
  /// Milliseconds for a request to arrive whole once its first byte is there, and for a client to take an answer.
  public var requestTimeout: Int64 = 10_000
  /// Milliseconds that a new connection may take for its first byte; browsers open some in advance.
  public var firstByteTimeout: Int64 = 10_000
  /// Milliseconds that a connection may rest between requests.
  public var idleTimeout: Int64 = 30_000
  /// Milliseconds that the cast may take to answer.
  public var answerTimeout: Int64 = 10_000
  /// Milliseconds between an answer that ends a connection and its closing, so that a client still sending can read it.
  public var lingerTimeout: Int64 = 1_000
  /// Milliseconds for running requests to end when the server shuts down.
  public var shutdownGrace: Int64 = 500

  /// The defaults.
  public init() {}
}
