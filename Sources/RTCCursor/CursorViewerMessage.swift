import RTCPrimitives

/// Where a viewer wants the pointer.
package enum CursorPlace: UInt8, Hashable, Sendable, CaseIterable {
  /// In the picture: what it shows the picture in draws nothing upon it.
  case picture = 0
  /// It draws the pointer.
  case viewer = 1
  /// Nowhere: it cannot be seen.
  case nowhere = 2
}

/// What a viewer says in the channel for everything; in the other it says nothing.
///
///     ready  1 | version 8 (1) | place 8
package enum CursorViewerMessage: Hashable, Sendable {
  /// Tells where it wants the pointer from now on, and whoever draws it is told all there is to know.
  case ready(CursorPlace)

  /// Nil for what no viewer of ours says.
  package init?(parsing bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    guard reader.readUInt8() == 1, reader.readUInt8() == 1,
      let place = reader.readUInt8().flatMap(CursorPlace.init(rawValue:)), reader.isAtEnd
    else { return nil }
    self = .ready(place)
  }

  /// As a viewer writes it.
  package var bytes: [UInt8] {
    switch self {
    case .ready(let place): [1, 1, place.rawValue]
    }
  }
}
