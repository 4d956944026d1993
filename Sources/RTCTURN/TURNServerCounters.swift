import RTCWire

/// The counters of a TURN server since its start.
package struct TURNServerCounters: Sendable {
  /// The errors that are counted each by itself.
  package static let codes: [UInt16] = [400, 401, 403, 420, 437, 438, 440, 441, 442, 443, 486, 508]

  /// Allocations now.
  package var allocations = 0
  /// Allocations made.
  package var allocationsMade = 0
  /// Datagrams and bytes of data from clients to peers.
  package var toPeers = Amount()
  /// Datagrams and bytes of data from peers to clients.
  package var toClients = Amount()
  /// Datagrams dropped because there was no permission or channel for them, or the peer is a forbidden one.
  package var dropsUnpermitted = 0
  /// Datagrams dropped because the allocation relayed more than its bandwidth.
  package var dropsOverRate = 0
  /// Datagrams dropped because too many arrived at once.
  package var dropsFull = 0
  /// Messages dropped because they are no STUN requests or data, or too many of them lacked credentials.
  package var dropsInvalid = 0
  private var refusals = InlineArray<12, Int>(repeating: 0)

  /// An amount of data.
  package struct Amount: Sendable {
    /// The number of datagrams.
    package var datagrams = 0
    /// The bytes in them.
    package var bytes = 0

    mutating func add(_ count: Int) {
      datagrams &+= 1
      bytes &+= count
    }
  }

  /// All counts zero.
  package init() {}

  mutating func count(_ code: STUNErrorCode) {
    guard let place = Self.codes.firstIndex(of: code.code) else { return }
    refusals[place] &+= 1
  }

  /// The requests that were refused with this error, one of `codes`.
  package func refusals(with code: UInt16) -> Int { Self.codes.firstIndex(of: code).map { refusals[$0] } ?? 0 }
}
