/// The names of published streams that several hubs share. Any thread.
package protocol SharedStreams: AnyObject, Sendable {
  /// Claims a name for a publisher at this hub.
  func claim(stream: String) async -> PresenceAnswer

  /// A stream of this hub has ended.
  func release(stream: String)

  /// Sets where the streams of the other hubs are reported: all of them, each with the address of its hub, at once and
  /// after each change. Called once. `report` may be called on any thread.
  func followStreams(_ report: @escaping @Sendable ([String: String]) -> Void)
}

/// A stream of another hub.
public struct StreamPlace: Sendable, Hashable {
  /// The name in `/whep/NAME`.
  public var name: String
  /// The URL of the other hub's front page, which ends in a slash; empty if it is that of this hub.
  public var address: String

  /// Makes a place.
  public init(name: String, address: String) {
    self.name = name
    self.address = address
  }
}

extension HTTPReply {
  /// The header of a redirect to another hub of the cluster. That hub has the same secret, so a client may send it there.
  package static let clusterHeader = "RTCast-Cluster"

  /// Redirects a client to the hub that has the stream.
  /// - Parameters:
  ///   - path: the path at that hub before the stream's name.
  ///   - isPage: the client is a page, which opens the page of the other hub: browsers send a token to no other origin.
  package static func elsewhere(_ place: StreamPlace, path: String, query: String = "", isPage: Bool = false)
    -> HTTPReply
  {
    guard !place.address.isEmpty else {
      return HTTPReply(
        status: 503,
        sentence:
          "The stream \"\(place.name)\" is at another hub, and both hubs have the same address. Give each hub an "
          + "address of its own with --cluster-address.")
    }
    return HTTPReply(
      status: isPage ? 300 : 307, sentence: "The stream \"\(place.name)\" is at the hub \(place.address).",
      headers: [
        "Location": place.address + path + PercentEncoding.encode(place.name) + query, "Cache-Control": "no-store",
        clusterHeader: "1",
      ])
  }
}
