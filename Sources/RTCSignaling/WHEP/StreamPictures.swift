/// A still picture of a stream or source, for a page that shows many.
public struct StillPicture: Sendable, Equatable {
  /// A WebP file.
  public var webP: [UInt8]
  /// Names the picture: another picture of the same subject has another tag. Letters, digits, `-` and `_`.
  public var tag: String

  /// Makes a picture.
  public init(webP: [UInt8], tag: String) {
    self.webP = webP
    self.tag = tag
  }
}

/// The still pictures of one stream. Any thread.
public protocol StreamPictures: Sendable {
  /// Names the stream's newest picture, of letters, digits and `-`. The text stays the same while nothing in the stream
  /// changes. The tag of a picture is this text, `-` and its width. Nil before the first picture.
  var newest: String? { get }

  /// The newest picture that can be had within a few seconds; nil: there is none.
  /// - Parameter width: the wanted width in pixels; the picture may be smaller or larger.
  func picture(width: Int) async -> StillPicture?
}

/// One stream of a hub, in the list for the page that shows all streams.
public struct StreamListing: Sendable, Hashable {
  /// The name in `/whep/NAME`.
  public var name: String
  /// See `StreamPictures.newest`; nil: the stream has no still pictures, or none yet.
  public var newest: String?
  /// Connected and connecting viewers.
  public var viewers: Int
  /// The URL of the hub that has the stream; nil: this one.
  public var address: String?

  /// Makes an entry of the list.
  public init(name: String, newest: String?, viewers: Int, address: String? = nil) {
    self.name = name
    self.newest = newest
    self.viewers = viewers
    self.address = address
  }

  /// The entry as the page reads it.
  package var json: JSONValue {
    .object(
      [("name", .string(name)), ("newest", .optional(newest)), ("viewers", .count(viewers))]
        + (address.map { [("address", .string($0))] } ?? []))
  }
}
