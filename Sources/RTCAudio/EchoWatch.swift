import RTCMedia
import RTCPrimitives
import Synchronization

/// Knows from which devices a call's sound comes and goes, and so whether the server cancels echo.
final class EchoWatch: Sendable {
  private struct Devices {
    var input: PulseDevice?
    var output: PulseOutput?
    /// The time since which echo is not cancelled.
    var lacking: Timestamp?
    var isTold = false
  }

  /// A server that puts its echo canceller in needs a moment for it.
  private static let patience = TimeDelta.seconds(1)

  private let devices = Mutex(Devices())
  private let notice: @Sendable (String) -> Void

  init(_ notice: @escaping @Sendable (String) -> Void) { self.notice = notice }

  static let advice =
    "The sound server cancels no echo: others may hear themselves. Wear headphones, or load its echo canceller: "
    + "`pactl load-module module-echo-cancel`."

  var state: EchoCancellation { devices.withLock { Self.state($0) } }

  func note(input: PulseDevice?) { devices.withLock { $0.input = input } }

  func note(output: PulseOutput?) { devices.withLock { $0.output = output } }

  /// Reports once that echo is not cancelled; call it repeatedly.
  func look(at now: Timestamp) {
    let isNews = devices.withLock { devices in
      guard !devices.isTold, case .none = Self.state(devices) else {
        devices.lacking = nil
        return false
      }
      let since = devices.lacking ?? now
      devices.lacking = since
      devices.isTold = now - since >= Self.patience
      return devices.isTold
    }
    if isNews { notice(Self.advice) }
  }

  private static func state(_ devices: Devices) -> EchoCancellation {
    guard let input = devices.input, let output = devices.output else { return .unknown }
    guard input.cancelsEcho, output.cancelsEcho || !output.hasEchoCanceller else { return .none(advice) }
    return .soundServer(input.description)
  }
}
