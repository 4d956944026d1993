package import RTCMedia
package import RTCPrimitives

/// The caster's messages about the pointer, version 1 of the protocols `rtcast-cursor.1` and
/// `rtcast-cursor-position.1`: binary messages, each of one of these kinds, integers in network order (docs/cursor.md).
package enum CursorMessage {
  /// The name of the main channel's protocol in its DCEP message; the channel is reliable and ordered.
  package static let channelProtocol = "rtcast-cursor.1"
  /// The name of the position channel's protocol; the channel is unordered and without retransmission.
  package static let positionProtocol = "rtcast-cursor-position.1"

  /// The first byte.
  ///
  ///     drawing   1 | timestamp 32 | flags 8 | width 16 | height 16
  ///     image     2 | digest 64 | width 16 | height 16 | hot x 16 | hot y 16 | red 8 | green 8 | blue 8 | alpha 8 | …
  ///     show      3 | digest 64
  ///     position  4 | number 32 | is visible 8 | x 16 | y 16, both signed
  package enum Kind: UInt8 {
    case drawing = 1
    case image = 2
    case show = 3
    case position = 4
  }

  /// The viewer draws it.
  package static let byViewerFlag: UInt8 = 1
  /// Applies to any frame, not only from the timestamp on.
  package static let settledFlag: UInt8 = 2

  /// Whether the viewer draws the pointer in frames from the timestamp on.
  /// - Parameter size: the size of the picture to which positions refer.
  package static func drawing(
    _ timestamp: RTPTimestamp, byViewer: Bool, isSettled: Bool, _ size: PixelSize
  ) -> [UInt8] {
    message(count: 10) { writer in
      writer.write(Kind.drawing.rawValue)
      writer.write(timestamp.value)
      writer.write((byViewer ? byViewerFlag : 0) | (isSettled ? settledFlag : 0))
      writer.write(UInt16(clamping: size.width))
      writer.write(UInt16(clamping: size.height))
    }
  }

  /// The pointer looks like this from now on. To be kept under `digest`.
  package static func image(_ digest: UInt64, _ image: CursorImage) -> [UInt8] {
    message(count: 17 + image.pixels.count * 4) { writer in
      writer.write(Kind.image.rawValue)
      writer.write(digest)
      for value in [image.size.width, image.size.height, image.hotX, image.hotY] {
        writer.write(UInt16(clamping: value))
      }
      for pixel in image.pixels { writer.write(straight(pixel)) }
    }
  }

  /// From now on it looks as the image that was sent under `digest`.
  package static func show(_ digest: UInt64) -> [UInt8] {
    message(count: 9) { writer in
      writer.write(Kind.show.rawValue)
      writer.write(digest)
    }
  }

  /// The position of the pointer.
  /// - Parameters:
  ///   - number: counts positions, modulo 2³²; of two in the wrong order, the later one applies.
  ///   - position: nil: no part of the pointer is in the picture.
  package static func position(_ number: UInt32, _ position: CursorPosition?) -> [UInt8] {
    message(count: 10) { writer in
      writer.write(Kind.position.rawValue)
      writer.write(number)
      writer.write(position == nil ? UInt8(0) : 1)
      for value in [position?.x ?? 0, position?.y ?? 0] { writer.write(UInt16(bitPattern: Int16(clamping: value))) }
    }
  }

  /// 0xRRGGBBAA, not multiplied by alpha, as canvases have it.
  private static func straight(_ pixel: UInt32) -> UInt32 {
    let alpha = pixel >> 24
    guard alpha > 0 else { return 0 }
    func channel(_ shift: UInt32) -> UInt32 { min(255, ((pixel >> shift & 255) * 255 + alpha / 2) / alpha) }
    return channel(16) << 24 | channel(8) << 16 | channel(0) << 8 | alpha
  }

  private static func message(count: Int, _ write: (inout ByteWriter) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var writer = ByteWriter(span._mutatingExtracting(0..<count))
    write(&writer)
    return bytes
  }
}

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

/// The limits of a viewer's pointer messages and images; `cursor.js` of the viewer page has the same numbers.
package enum CursorLimits {
  /// Pixels on a side: a larger pointer is drawn into the picture.
  package static let side = 128
  /// Images that a viewer keeps; the one used longest ago goes first.
  package static let images = 32
}
