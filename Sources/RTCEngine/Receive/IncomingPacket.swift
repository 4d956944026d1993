import RTCMedia
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

  /// Parses the extensions of `packet`, numbered by `map`. Unparsable extensions are skipped.
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

extension ColorSpace {
  /// Nil for unknown values; the bitstream's own values then apply.
  init?(_ description: ColorSpaceDescription) {
    switch (description.matrix, description.range) {
    case (1, let range): self.init(matrix: .bt709, range: range == .full ? .full : .limited)
    case (5...6, let range): self.init(matrix: .bt601, range: range == .full ? .full : .limited)
    default: return nil
    }
  }
}
