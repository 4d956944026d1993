package import RTCPrimitives

/// Decides whether viewers that ask are admitted. Any thread.
package protocol ViewerAdmission: AnyObject, Sendable {
  /// The viewer has passed the checks of its token and of the limits of viewers.
  func decide(on request: ViewerRequest) -> AdmissionDecision
}

/// A viewer's request.
package struct ViewerRequest: Hashable, Sendable {
  /// The address that it came from.
  package var remote: String
}

/// The decision about a viewer.
package enum AdmissionDecision: Sendable {
  case admitted
  case refused
  /// The answer comes later. While the viewer waits, it counts as one that is connecting.
  /// - Parameters:
  ///   - limit: the viewer is asked to try again after this time; at most `longestWait`.
  ///   - answer: returns whether the viewer is admitted. Its task is cancelled if the viewer leaves or the time is over.
  case waits(limit: TimeDelta, answer: @Sendable () async -> Bool)

  /// Clients and the server give up a request after ten seconds.
  package static let longestWait = TimeDelta.seconds(8)
}

extension AdmissionDecision {
  /// Waits for the answer, if it comes later.
  /// - Returns: nil if the time was over, or the present task was cancelled because the viewer has left.
  func answer() async -> Bool? {
    switch self {
    case .admitted: return true
    case .refused: return false
    case .waits(let limit, let answer):
      // The first of both counts. A group of tasks would wait for the second.
      let (results, result) = AsyncStream.makeStream(of: Bool?.self, bufferingPolicy: .bufferingOldest(1))
      let decision = Task { result.yield(await answer()) }
      let alarm = Task {
        let wait = min(limit, Self.longestWait)
        guard (try? await Task.sleep(for: .nanoseconds(wait.nanoseconds))) != nil else { return }
        result.yield(nil)
      }
      defer {
        decision.cancel()
        alarm.cancel()
      }
      for await result in results { return result }
      return nil
    }
  }
}
