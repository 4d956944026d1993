import RTCPrimitives
import RTCWire

/// Resets of streams: our requests, one at a time, and the answers to the peer's (RFC 6525).
struct StreamReset {
  private struct Request {
    /// Nil: to be sent with a new number, as the peer was not ready.
    var number: UInt32?
    var lastTSN: TSN
    var streams: [StreamID]
  }

  /// Streams whose reset has been asked for and has not begun.
  private var wanted: [StreamID] = []
  private var request: Request?
  private var nextNumber: UInt32
  /// The number that the peer's next request must have.
  private var expectedNumber: UInt32
  private var lastResult = SCTPReconfigurationResponse.Result.nothingToDo

  /// The numbers start with the first TSN (RFC 6525 §5.1.1).
  init(initialTSN: TSN, peerInitialTSN: TSN) {
    nextNumber = initialTSN.value
    expectedNumber = peerInitialTSN.value
  }

  var isWaiting: Bool { request != nil }
  /// True while nothing may be sent on the stream.
  func isBusy(_ stream: StreamID) -> Bool {
    wanted.contains(stream) || request?.streams.contains(stream) == true
  }

  // MARK: Ours

  mutating func want(_ streams: [StreamID]) {
    for stream in streams where !isBusy(stream) { wanted.append(stream) }
  }

  /// Begins a reset of those streams that are ready, if none is under way.
  mutating func begin(maximumStreams: Int, lastTSN: TSN, isReady: (StreamID) -> Bool) -> Bool {
    guard request == nil, !wanted.isEmpty else { return false }
    var ready: [StreamID] = []
    var rest: [StreamID] = []
    for stream in wanted {
      if ready.count < maximumStreams, isReady(stream) { ready.append(stream) } else { rest.append(stream) }
    }
    guard !ready.isEmpty else { return false }
    wanted = rest
    request = Request(lastTSN: lastTSN, streams: ready)
    return true
  }

  /// The request to send or repeat.
  mutating func takeRequest() -> SCTPOutgoingResetRequest? {
    guard let current = request else { return nil }
    let number = current.number ?? nextNumber
    if current.number == nil {
      request?.number = number
      nextNumber &+= 1
    }
    return SCTPOutgoingResetRequest(
      requestNumber: number, responseNumber: expectedNumber &- 1, lastTSN: current.lastTSN, streams: current.streams)
  }

  /// The peer has answered. The streams whose reset has ended; nil when none has.
  mutating func handle(_ response: SCTPReconfigurationResponse) -> (streams: [StreamID], failed: Bool)? {
    guard let current = request, current.number == response.responseNumber else { return nil }
    switch response.result {
    case .inProgress:
      request?.number = nil
      return nil
    case .nothingToDo, .performed:
      request = nil
      return (current.streams, false)
    case .denied, .wrongStreamNumber, .requestAlreadyInProgress, .badSequenceNumber:
      request = nil
      return (current.streams, true)
    }
  }

  // MARK: The peer's

  /// Whether a request is to be handled: the next one, or one that came too early before.
  func isDue(_ number: UInt32) -> Bool {
    number == expectedNumber || (number == expectedNumber &- 1 && lastResult == .inProgress)
  }

  /// Records the result of a request.
  mutating func performed(_ number: UInt32, _ result: SCTPReconfigurationResponse.Result) {
    lastResult = result
    expectedNumber = number &+ 1
  }

  /// The answer to the last request, or to one that is neither the last nor the next.
  func answer(to number: UInt32) -> SCTPReconfigurationResponse {
    SCTPReconfigurationResponse(
      responseNumber: number, result: number == expectedNumber &- 1 ? lastResult : .badSequenceNumber)
  }
}
