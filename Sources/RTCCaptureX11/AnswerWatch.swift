import CX11
import Glibc
import RTCMedia
import RTCNet
import RTCPrimitives

/// Watches whether an X server answers on one connection.
///
/// XCB waits without a limit for the server's greeting, for a reply, and for the rest of a reply that has begun, so a
/// server that hangs would hold its caller for ever. Every such wait is announced here, and a thread looks whether one
/// lasts longer than the limit. Then the silence is reported and the wait goes on, or the connection is given up. To give
/// up, the socket is shut down: XCB returns from whatever it waits for, with nothing. Any thread may do so at any time.
final class AnswerWatch: Sendable {
  /// A server that does not answer within this time hangs.
  static let answerLimit = TimeDelta.seconds(2)
  /// The limit for a server that is first asked for its size and then captured: both waits together take `answerLimit`.
  static let halfLimit = TimeDelta.seconds(1)

  /// The consequence of a wait that is longer than the limit.
  enum Policy: Sendable {
    case giveUp
    /// The closure gets true when the server stops answering, and false when it answers again. Called on a thread of the
    /// watch's own, one call at a time.
    case report(@Sendable (Bool) -> Void)
  }

  /// The result of `xcb_connect`.
  private struct Greeting {
    /// The connection's address: the thread that connected hands it over, and does not use it any more.
    let connection: UInt
    let screen: Int
  }

  private struct State {
    /// The begin of the present wait; nil when nothing is waited for.
    var askedAt: Timestamp?
    var limit = AnswerWatch.answerLimit
    /// Whether the silence was reported, and its end was not.
    var isSilent = false
    /// Whether the watching thread waits for a change.
    var isIdle = false
    var hasChanged = false
    var greeting: Greeting?
    /// The connection's socket, duplicated so that it cannot be another file by the time it is shut down; -1: none yet.
    var socket: Int32 = -1
    var hasGivenUp = false
    /// Whether nothing is wanted from the server any more.
    var isInterrupted = false
    var isOver = false

    enum Step {
      case wait(until: Timestamp?)
      case report(isSilent: Bool)
      case end
    }

    /// The next step of the watching thread.
    mutating func step(_ now: Timestamp) -> Step {
      // A wait that began just now was over before this thread looked; more follow soon, and need not wake it.
      let mayFollow = hasChanged
      isIdle = false
      hasChanged = false
      if isOver || isInterrupted { return .end }
      let due = askedAt.map { $0 + limit }
      let isLate = due.map { $0 <= now } ?? false
      if isLate != isSilent {
        isSilent = isLate
        return .report(isSilent: isLate)
      }
      if !isLate, let due { return .wait(until: due) }
      if mayFollow, !isLate { return .wait(until: now + AnswerWatch.answerLimit) }
      isIdle = true
      return .wait(until: nil)
    }

    mutating func interrupt() {
      isInterrupted = true
      hasChanged = true
      if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  private let state = Monitor(State())
  private let greetingLimit: TimeDelta

  /// - Parameter greetingLimit: for a server that accepts the connection and does not greet.
  init(_ policy: Policy, greetingLimit: TimeDelta = answerLimit) throws(CaptureError) {
    self.greetingLimit = greetingLimit
    do throws(SystemError) {
      _ = try NamedThread(name: "rtc-x11-watch") { [state] in Self.watch(state, policy) }
    } catch {
      throw CaptureError(error)
    }
  }

  deinit {
    state.change { state in
      state.isOver = true
      state.hasChanged = true
      if state.socket >= 0 { close(state.socket) }
      state.socket = -1
    }
  }

  private static func watch(_ state: Monitor<State>, _ policy: Policy) {
    while true {
      switch state.withLock({ $0.step(MonotonicClock.now()) }) {
      case .end: return
      case .wait(let deadline): _ = state.wait(until: deadline) { $0.hasChanged ? true : nil }
      case .report(let isSilent):
        switch policy {
        case .report(let report): report(isSilent)
        case .giveUp:
          state.change {
            $0.hasGivenUp = true
            $0.interrupt()
          }
        }
      }
    }
  }

  /// The server did not answer, and was given up.
  var hasGivenUp: Bool { state.withLock { $0.hasGivenUp } }

  /// The connection was closed from this side.
  var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  /// Closes the connection: what waits for the server returns with nothing. Any thread, any number of times.
  func interrupt() { state.change { $0.interrupt() } }

  /// Runs `body`, which waits for the server.
  func awaiting<Result>(_ body: () -> Result) -> Result {
    begin(Self.answerLimit)
    defer { end() }
    return body()
  }

  /// Waits for a reply; nil when the server refuses the request or the connection is broken.
  func reply<Value>(_ read: @autoclosure () -> UnsafeMutablePointer<Value>?) -> X11Reply<Value>? {
    X11Reply(awaiting(read))
  }

  private func begin(_ limit: TimeDelta) {
    let now = MonotonicClock.now()
    let isIdle = state.withLock { state in
      state.askedAt = now
      state.limit = limit
      return state.isIdle
    }
    if isIdle { state.change { $0.hasChanged = true } }
  }

  private func end() {
    let isSilent = state.withLock { state in
      state.askedAt = nil
      return state.isSilent
    }
    if isSilent { state.change { $0.hasChanged = true } }
  }

  /// Connects to `display`, once for each watch; nil when interrupted before. What comes back may be a connection with an
  /// error.
  ///
  /// `xcb_connect` cannot be interrupted, as its socket is not known before it returns. So it has a thread of its own,
  /// which is left behind when the server hangs, and ends when the server does or greets.
  func connect(to display: String) throws(CaptureError) -> (connection: OpaquePointer, screen: Int)? {
    begin(greetingLimit)
    defer { end() }
    do throws(SystemError) {
      _ = try NamedThread(name: "rtc-x11-greet") { [state] in
        var screen: Int32 = 0
        guard let connection = xcb_connect(display, &screen) else { return }
        let greeting = Greeting(connection: UInt(bitPattern: connection), screen: Int(screen))
        let isWanted = state.change { state in
          guard !state.isInterrupted, !state.isOver else { return false }
          state.greeting = greeting
          let socket = xcb_get_file_descriptor(connection)
          state.socket = socket < 0 ? -1 : fcntl(socket, F_DUPFD_CLOEXEC, 3)
          return true
        }
        if !isWanted { xcb_disconnect(connection) }
      }
    } catch {
      throw CaptureError(error)
    }
    let found = state.wait(until: nil) { state -> Greeting?? in
      if let greeting = state.greeting { return .some(greeting) }
      return state.isInterrupted ? .some(nil) : nil
    }
    guard let greeting = found ?? nil, let connection = OpaquePointer(bitPattern: greeting.connection) else {
      return nil
    }
    return (connection, greeting.screen)
  }
}
