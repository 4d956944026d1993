import RTCCaptureX11

/// A monitor or window that can be picked.
package enum PickedSource: Hashable, Sendable {
  /// The whole screen.
  case screen
  /// A monitor, by its number.
  case monitor(Int)
  /// A window, by the X server's number.
  case window(UInt32)

  /// The identifier on the page.
  package var id: String {
    switch self {
    case .screen: "screen"
    case .monitor(let number): "monitor-\(number)"
    case .window(let number): "window-\(String(number, radix: 16))"
    }
  }

  /// Nil if the text is no identifier.
  package init?(id: String) {
    if id == "screen" {
      self = .screen
      return
    }
    let parts = id.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    switch parts[0] {
    case "monitor":
      guard let number = Int(parts[1]), number >= 0 else { return nil }
      self = .monitor(number)
    case "window":
      guard let number = UInt32(parts[1], radix: 16) else { return nil }
      self = .window(number)
    default: return nil
    }
    guard self.id == id else { return nil }
  }

  /// The words of `rtcast screen` that name it.
  package var words: [String] {
    switch self {
    case .screen: []
    case .monitor(let number): ["--monitor", String(number)]
    case .window(let number): ["--window", "0x" + String(number, radix: 16)]
    }
  }

  var target: X11CaptureOptions.Target {
    switch self {
    case .screen: .screen
    case .monitor(let number): .monitor(String(number))
    case .window(let number): .window("0x" + String(number, radix: 16))
    }
  }
}
