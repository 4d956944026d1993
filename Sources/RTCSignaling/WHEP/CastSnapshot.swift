/// The whole picture as it was at one moment.
public struct CastSnapshot: Sendable, Equatable {
  /// A WebP file.
  public var webP: [UInt8]
  /// By which the viewer names it to the caster; nil where its pixels are not exactly those of the picture.
  public var number: UInt32?

  /// See the properties.
  public init(webP: [UInt8], number: UInt32? = nil) {
    self.webP = webP
    self.number = number
  }
}
