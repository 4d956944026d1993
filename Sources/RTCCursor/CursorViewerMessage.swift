import RTCPrimitives

/// The place where a viewer wants the pointer.
package enum CursorPlace: UInt8, Hashable, Sendable, CaseIterable {
  /// In the picture: the viewer cannot draw over the video.
  case picture = 0
  /// Drawn by the viewer.
  case viewer = 1
  /// Nowhere: it cannot be seen.
  case nowhere = 2
}

/// A viewer's message in the main channel; it sends nothing in the other.
///
///     ready  1 | version 8 (1) | place 8
package enum CursorViewerMessage: Hashable, Sendable {
  /// The place where it wants the pointer from now on. A viewer that draws it then gets the complete state.
  case ready(CursorPlace)

  /// Nil for what no viewer of ours says.
  package init?(parsing bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    guard reader.readUInt8() == 1, reader.readUInt8() == 1,
      let place = reader.readUInt8().flatMap(CursorPlace.init(rawValue:)), reader.isAtEnd
    else { return nil }
    self = .ready(place)
  }

  /// The message in the viewer's encoding.
  package var bytes: [UInt8] {
    switch self {
    case .ready(let place): [1, 1, place.rawValue]
    }
  }
}
