/// Captured pictures that became no frame of their own, by the reason. Their changes, if any, come with a later frame.
public struct LeftOutPictures: Hashable, Sendable {
  /// A newer picture replaced it while the encoder was busy.
  public var busy: UInt64 = 0
  /// The encoder made no frame of it, mostly as the bitrate did not allow one.
  public var bitrate: UInt64 = 0
  /// Nothing in it had changed.
  public var unchanged: UInt64 = 0
  /// All viewers had it by exact pixels before a frame was needed.
  public var exact: UInt64 = 0

  /// None.
  public init() {}
}
