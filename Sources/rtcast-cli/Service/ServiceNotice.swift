import RTCPrimitives

/// A message to the service manager: lines of NAME=VALUE (sd_notify(3)).
package enum ServiceNotice: Hashable, Sendable {
  case ready
  /// The program reads its settings again.
  /// - Parameter time: the time of the monotonic clock, in microseconds.
  case reloading(time: Int64)
  case stopping
  /// A sign of life.
  case watchdog
  /// A sentence about the state of the service, without a secret, for the service manager's reports.
  case status(String)

  package var text: String {
    switch self {
    case .ready: "READY=1"
    case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
    case .stopping: "STOPPING=1"
    case .watchdog: "WATCHDOG=1"
    // A line break would begin another line of the message.
    case .status(let sentence): "STATUS=\(sentence.foreignText(limit: 500))"
    }
  }
}
