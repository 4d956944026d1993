public import RTCPrimitives

extension PeerConnection {
  /// Sets the connection's STUN and TURN servers, in addition to the loop's. An allocation at a server that stays
  /// continues, and takes the new credentials when its present ones fail. New candidates are reported as
  /// `PeerConnectionEvent.localCandidate`.
  public func setICEServers(_ servers: [ICEServer]) {
    iceServers = servers
    // Without a slot they are asked when there is one.
    if let slot { loop.table.setICEServers(servers, of: slot) }
  }

  /// Returns when every server has answered, failed, or had its time, and at last when `limit` is over: for descriptions that are
  /// to hold all candidates.
  public func gathered(within limit: TimeDelta) async {
    guard let slot = try? makeSlot(), !slot.sockets.isComplete else { return }
    await withCheckedContinuation { continuation in
      let waiter = GatheringWaiter(continuation)
      gatheringWaiters.append(waiter)
      Task {
        try? await Task.sleep(nanoseconds: UInt64(max(0, limit.nanoseconds)))
        self.finish(waiter)
      }
    }
  }

  private func finish(_ waiter: GatheringWaiter) {
    waiter.finish()
    gatheringWaiters.removeAll { $0 === waiter }
  }

  /// Candidates have come, or the connection is over.
  func wakeWhenGathered(isOver: Bool = false) {
    guard isOver || slot?.sockets.isComplete == true else { return }
    let waiters = gatheringWaiters
    gatheringWaiters = []
    for waiter in waiters { waiter.finish() }
  }
}

/// A caller that waits for the end of gathering.
final class GatheringWaiter {
  private var continuation: CheckedContinuation<Void, Never>?

  init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

  /// Once, however often it is called.
  func finish() {
    continuation?.resume()
    continuation = nil
  }
}
