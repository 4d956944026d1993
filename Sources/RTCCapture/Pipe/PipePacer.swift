package import RTCPrimitives

/// Decides when a picture of a stream is shown and which are dropped.
///
/// The stream's rate determines when each picture is due, counted from the first. An early picture waits, and so does
/// its writer: a film plays at its own speed. A picture that is late because the writer is slow is shown as it arrives.
/// If pictures are late although more of them wait to be read, the reader is too slow, or a live writer catches up
/// after a pause: then older ones are dropped, so that the newest is shown and the writer is not blocked.
///
/// A pure value that reads no clock.
package struct PipePacer {
  /// One picture that was read whole.
  package struct Arrival {
    /// When the reader was ready for it.
    package var began: Timestamp
    package var completed: Timestamp
    /// Bytes of the next wait to be read.
    package var isMoreWaiting: Bool

    package init(began: Timestamp, completed: Timestamp, isMoreWaiting: Bool) {
      self.began = began
      self.completed = completed
      self.isMoreWaiting = isMoreWaiting
    }
  }

  package enum Decision: Hashable {
    /// Show it then; at once when that is past.
    case show(at: Timestamp)
    case leaveOut
  }

  /// Seconds from picture to picture.
  private let interval: Double
  /// Seconds that lie between two pictures shown, at least.
  private let shortest: Double
  /// When the picture that counts as number 0 was due.
  private var anchor: Timestamp?
  private var number: Int64 = 0
  /// The writer was ahead of time when last seen, so it waits for us: a film, not something live.
  private var isWriterAhead = false
  private var lastShown: Timestamp?
  private var lastDone = Timestamp.zero

  /// - Parameters:
  ///   - rate: pictures a second that the stream is made for; above 0.
  ///   - limit: the most that are shown a second; above 0.
  package init(rate: Double, limit: Double) {
    precondition(rate > 0 && limit > 0, "A stream's rate lies above 0.")
    interval = 1 / rate
    shortest = limit < rate ? 1 / limit : 0
  }

  /// When the picture after the last one would be due; nil before the first.
  package var nextDue: Timestamp? { anchor.map { $0 + .seconds(Double(number) * interval) } }

  package mutating func decide(_ arrival: Arrival) -> Decision {
    let decision = decideByTime(arrival)
    guard case .show(let moment) = decision, let lastShown, (moment - lastShown).seconds < shortest * 0.95 else {
      return decision
    }
    // A little early is in time, so that jitter does not cost a picture.
    return .leaveOut
  }

  /// A picture was shown with that time; the consumer was done with it at `end`.
  package mutating func noteShown(at moment: Timestamp, until end: Timestamp) {
    lastShown = moment
    lastDone = end
  }

  private mutating func decideByTime(_ arrival: Arrival) -> Decision {
    defer { number += 1 }
    guard let due = nextDue else {
      anchor = arrival.completed
      return .show(at: arrival.completed)
    }
    let late = (arrival.completed - due).seconds
    if late < interval {
      noteWriter(arrival, isEarly: late <= 0)
      return .show(at: due)
    }
    if (arrival.completed - arrival.began).seconds >= interval {
      // The writer was slow. A film continues from there; a live stream catches up.
      if isWriterAhead { anchor = anchor.map { $0 + .seconds(late) } }
      return .show(at: arrival.completed)
    }
    if arrival.isMoreWaiting {
      if (arrival.completed - lastDone).seconds < patience { return .leaveOut }
      // Catching up is impossible; start again.
      anchor = anchor.map { $0 + .seconds(late) }
    }
    return .show(at: arrival.completed)
  }

  private mutating func noteWriter(_ arrival: Arrival, isEarly: Bool) {
    if isEarly, arrival.isMoreWaiting {
      isWriterAhead = true
    } else if (arrival.completed - arrival.began).seconds >= interval / 2 {
      isWriterAhead = false  // it is waited for
    }
  }

  /// How long pictures are left out at a stretch.
  private var patience: Double { min(0.5, 8 * interval) }
}
