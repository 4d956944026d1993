package import RTCPrimitives

/// A client's question whether ports of its own address are reached from outside. The hub sends a datagram and opens a
/// connection there, and nowhere else.
package struct ReachRequest: Sendable, Equatable {
  /// The port that is to be sent a datagram; nil: none.
  package var udp: UInt16?
  /// The port to connect to; nil: none.
  package var tcp: UInt16?
  /// By this the client recognizes the datagram.
  package var key: String

  /// At least one port; a key of 8 to 64 letters, digits, `-` and `_`.
  package init?(udp: UInt16?, tcp: UInt16?, key: String) {
    guard udp != nil || tcp != nil, (8...64).contains(key.utf8.count), key.utf8.allSatisfy(Base64URL.isLetter) else {
      return nil
    }
    self.udp = udp
    self.tcp = tcp
    self.key = key
  }

  /// From the query of a request, `udp=5000&tcp=5000&key=…`.
  init?(query: [String: String]) {
    let ports = ["udp", "tcp"].map { query[$0].map { UInt16($0) ?? 0 } }
    guard !ports.contains(0) else { return nil }
    self.init(udp: ports[0], tcp: ports[1], key: query["key"] ?? "")
  }

  /// The reference of the request, relative to the hub's address.
  package var reference: String {
    let ports = [udp.map { "udp=\($0)" }, tcp.map { "tcp=\($0)" }].compactMap(\.self)
    return "reach?" + (ports + ["key=\(key)"]).joined(separator: "&")
  }

  /// The datagram. No protocol takes it for its own: the first byte is none of STUN, DTLS, RTP or TURN (RFC 9443).
  package var datagram: [UInt8] { Array("rtcast-reach \(key)".utf8) }
}

/// The hub's answer to a `ReachRequest`.
package struct ReachReply: Sendable, Equatable {
  /// The client's address as the hub sees it.
  package var address: String
  /// Whether the connection came about; nil: none was wanted.
  package var isTCPOpen: Bool?

  package init(address: String, isTCPOpen: Bool?) {
    self.address = address
    self.isTCPOpen = isTCPOpen
  }

  /// Nil for what is no such answer.
  package init?(parsing json: String) {
    guard let tree = try? JSONTree(parsing: json.utf8), case .object(let members) = tree.value else { return nil }
    var address: String?
    for member in members {
      switch (member.name, member.value.value) {
      case ("address", .string(let text)): address = text
      case ("tcp", .bool(let isOpen)): isTCPOpen = isOpen
      default: break
      }
    }
    guard let address, IPAddress(address) != nil else { return nil }
    self.address = address
  }

  package var json: String {
    JSONValue.object([("address", .string(address))] + (isTCPOpen.map { [("tcp", .bool($0))] } ?? [])).text
  }
}

extension HTTPReply {
  package static func reached(_ reply: ReachReply) -> HTTPReply {
    var http = HTTPReply(status: 200, headers: ["Cache-Control": "no-store"], body: Array(reply.json.utf8))
    http.add("Content-Type", "application/json")
    return http
  }

  static let malformedReach = HTTPReply(
    status: 400, sentence: "Ask as /reach?udp=PORT&tcp=PORT&key=KEY, with a key of 8 to 64 letters and digits.")
  package static let unknownClient = HTTPReply(
    status: 409,
    sentence:
      "The hub does not see the client's own address: the client is on the hub's machine, or behind a proxy that "
      + "must be named with --trusted-proxy.")
  package static let reachedTooOften = HTTPReply(
    status: 429, sentence: "Ports were tried too often; try again in a minute.",
    headers: ["Retry-After": "60"])
}

/// How often a network may ask, so that a hub is no tool to send others packets.
package struct ReachLimiter {
  /// At once, and for each second.
  private var rates = NetworkRates(burst: 10, perSecond: 0.1)
  /// Requests that are carried out at the same time.
  private static let most = 32
  private var running = 0

  package init() {}

  /// Counts a request; false when there are too many. Call `end()` after one that was admitted.
  package mutating func begin(_ network: ClientNetwork, now: Timestamp) -> Bool {
    guard running < Self.most, rates.take(network, now: now) else { return false }
    running += 1
    return true
  }

  package mutating func end() { running -= 1 }
}
