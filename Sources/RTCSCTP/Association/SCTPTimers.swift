import RTCPrimitives

/// The association's deadlines, by name. `SCTPAssociation+Sending` handles those that are due.
struct SCTPTimers {
  enum Name: Int, CaseIterable {
    /// INIT is sent again (RFC 9260 §5.1).
    case initiation
    /// COOKIE ECHO is sent again.
    case cookie
    /// SHUTDOWN or SHUTDOWN ACK is sent again (RFC 9260 §9.2).
    case shutdown
    /// T3-rtx: all chunks in flight count as lost (RFC 9260 §6.3).
    case retransmission
    /// The last chunk is sent again, since its loss is not detected otherwise (RFC 8985 §7).
    case tailProbe
    /// A request for re-configuration is sent again (RFC 6525 §5.1.1).
    case reconfiguration
    /// HEARTBEAT is sent, or has not been answered (RFC 9260 §8.3).
    case heartbeat
    /// The path has carried the last burst, and more may leave.
    case burst
    /// Chunks that others have overtaken count as lost (RFC 8985 §6.3).
    case reordering
  }

  private var deadlines = InlineArray<9, Timestamp>(repeating: .distantFuture)

  subscript(name: Name) -> Timestamp {
    get { deadlines[name.rawValue] }
    set { deadlines[name.rawValue] = newValue }
  }

  func isRunning(_ name: Name) -> Bool { self[name] != .distantFuture }
  mutating func stop(_ name: Name) { self[name] = .distantFuture }
  mutating func stopAll() { deadlines = InlineArray(repeating: .distantFuture) }

  /// The first that is due.
  var next: Timestamp {
    var first = Timestamp.distantFuture
    for i in deadlines.indices where deadlines[i] < first { first = deadlines[i] }
    return first
  }

  /// Takes a timer off that is due.
  mutating func takeDue(_ now: Timestamp) -> Name? {
    for name in Name.allCases where self[name] <= now {
      stop(name)
      return name
    }
    return nil
  }
}
