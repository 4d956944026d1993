package import RTCMedia
package import RTCWire

/// What the header extensions of a packet say of its picture; nil where they say nothing.
package struct PictureExtensions: Hashable, Sendable {
  package var rotation: VideoRotation?
  package var colorSpace: ColorSpace?
  package var playoutDelay: PlayoutDelay?

  package init() {}

  /// Reads those of `packet`, numbered by `map`. What cannot be read is passed over.
  package init(_ header: RTPHeader, in packet: Span<UInt8>, map: RTPHeaderExtensionMap) {
    var elements = header.extensionElements(in: packet)
    while let element = elements.next() {
      let data = packet.extracting(element.range)
      switch map.uri(id: element.id) {
      case .videoOrientation: rotation = VideoOrientation(parsing: data)?.rotation
      case .colorSpace: colorSpace = ColorSpaceDescription(parsing: data).flatMap { ColorSpace($0) }
      case .playoutDelay: playoutDelay = PlayoutDelay(parsing: data)
      default: break
      }
    }
  }

  var isEmpty: Bool { rotation == nil && colorSpace == nil && playoutDelay == nil }

  /// What `newer` says, and where it says nothing what was said before.
  mutating func update(from newer: PictureExtensions) {
    rotation = newer.rotation ?? rotation
    colorSpace = newer.colorSpace ?? colorSpace
    playoutDelay = newer.playoutDelay ?? playoutDelay
  }
}

extension ColorSpace {
  /// Nil for what we have no name for; the bitstream's word holds then.
  init?(_ description: ColorSpaceDescription) {
    switch (description.matrix, description.range) {
    case (1, let range): self.init(matrix: .bt709, range: range == .full ? .full : .limited)
    case (5...6, let range): self.init(matrix: .bt601, range: range == .full ? .full : .limited)
    default: return nil
    }
  }
}
