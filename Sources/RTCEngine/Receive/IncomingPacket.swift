package import RTCMedia
import RTCPrimitives
package import RTCWire

/// An incoming media packet's header, and what its header extensions say that matters here: they are walked once.
package struct IncomingPacket {
  package let header: RTPHeader
  /// The m-section it is for; nil when it does not say.
  package private(set) var mid: RTPStreamID?
  package var transportNumber: TransportSequenceNumber?
  package private(set) var audioLevel: AudioLevelIndication?
  package private(set) var video = VideoExtensions()

  /// Reads the extensions of `packet`, numbered by `map`. What cannot be read is passed over.
  package init(_ header: RTPHeader, in packet: Span<UInt8>, map: RTPHeaderExtensionMap) {
    self.header = header
    var elements = header.extensionElements(in: packet)
    while let element = elements.next() {
      let data = packet.extracting(element.range)
      switch map.uri(id: element.id) {
      case .mid: mid = RTPStreamID(parsing: data)
      case .transportSequenceNumber: transportNumber = TransportSequenceNumber(parsing: data)
      case .audioLevel: audioLevel = AudioLevelIndication(parsing: data)
      case .videoOrientation: video.rotation = VideoOrientation(parsing: data)?.rotation
      case .colorSpace: video.colorSpace = ColorSpaceDescription(parsing: data).flatMap { ColorSpace($0) }
      case .playoutDelay: video.playoutDelay = PlayoutDelay(parsing: data)
      default: break
      }
    }
  }
}

/// What the header extensions of a packet say of its frame; nil where they say nothing.
package struct VideoExtensions: Hashable, Sendable {
  package var rotation: VideoRotation?
  package var colorSpace: ColorSpace?
  package var playoutDelay: PlayoutDelay?

  package init() {}

  /// What `newer` says, and where it says nothing what was said before.
  mutating func update(from newer: VideoExtensions) {
    rotation = newer.rotation ?? rotation
    colorSpace = newer.colorSpace ?? colorSpace
    playoutDelay = newer.playoutDelay ?? playoutDelay
  }
}

extension ColorSpace {
  /// Nil for what we have no name for; the bitstream's word holds then.
  init?(_ description: ColorSpaceDescription) {
    switch (description.matrix, description.range) {
    case (1, .full): self = .bt709Full
    case (1, _): self = .bt709Limited
    // Planes that are said to be sRGB are taken for those of JPEG: BT.601 at full range.
    case (5...6, .full): self = .sRGB
    case (5...6, _): self = .bt601Limited
    default: return nil
    }
  }
}
