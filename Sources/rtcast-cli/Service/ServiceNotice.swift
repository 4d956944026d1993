import RTCPrimitives

/// A message to the service manager: lines of NAME=VALUE (sd_notify(3)).
package enum ServiceNotice: Hashable, Sendable {
  case ready
  /// Settings are read again.
  /// - Parameter time: of the monotonic clock, in microseconds.
  case reloading(time: Int64)
  case stopping
  /// The program is alive.
  case watchdog
  /// A sentence for whoever asks for the service's state; it holds no secret.
  case status(String)

  package var text: String {
    switch self {
    case .ready: "READY=1"
    case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
    case .stopping: "STOPPING=1"
    case .watchdog: "WATCHDOG=1"
    // A line break would begin another message.
    case .status(let sentence): "STATUS=\(sentence.foreignText(limit: 500))"
    }
  }
}
