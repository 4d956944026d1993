/// The whole picture as it was at one moment.
public struct CastSnapshot: Sendable, Equatable {
  /// A WebP file.
  public var webP: [UInt8]
  /// The number by which the viewer refers to the snapshot; nil if its pixels are not exact.
  public var number: UInt32?

  /// Makes a snapshot.
  public init(webP: [UInt8], number: UInt32? = nil) {
    self.webP = webP
    self.number = number
  }
}
