/// The action of a key while a file plays.
package enum PlaybackKey: Hashable, Sendable {
  case pause
  case back
  case forward
  case mute
  case end
}

/// Finds keys, arrow keys included, in the bytes of a terminal, which may arrive in any pieces.
package struct PlaybackKeyReader: Sendable {
  private enum State {
    case plain
    case escape
    /// After `ESC [`.
    case sequence
  }
  private var state = State.plain

  package init() {}

  package mutating func take(_ byte: UInt8) -> PlaybackKey? {
    switch state {
    case .plain:
      if byte == 0x1B { state = .escape }
      return Self.plain[byte]
    case .escape:
      state = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") ? .sequence : .plain
      return nil
    case .sequence:
      // Parameters come before the letter that ends the sequence.
      guard !(0x20...0x3F).contains(byte) else { return nil }
      state = .plain
      return byte == UInt8(ascii: "C") ? .forward : byte == UInt8(ascii: "D") ? .back : nil
    }
  }

  private static let plain: [UInt8: PlaybackKey] = [
    UInt8(ascii: " "): .pause, UInt8(ascii: "p"): .pause, UInt8(ascii: "m"): .mute, UInt8(ascii: "q"): .end,
    UInt8(ascii: "h"): .back, UInt8(ascii: "l"): .forward,
  ]
}
