/// The pattern of a synthetic source.
public enum SyntheticPattern: String, Hashable, Sendable, CaseIterable {
  /// Colour bars over a grey ramp, with one small moving block.
  case bars
  /// A clock face with moving hands, and frame number and drawing time as letters and as a bar code.
  case clock
  /// Every pixel random in every frame: the worst case for an encoder.
  case noise
  /// A smooth gradient that moves.
  case gradient
  /// A page of letters that scrolls.
  case scrollText = "scroll-text"

  /// Noise is a moving picture like a camera's; all else is drawings.
  public var isScreencast: Bool { self != .noise }
}
