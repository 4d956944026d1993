import RTCPrimitives
package import RTCWire

/// An incoming media packet's header, and what its extensions say that matters to a peer.
package struct IncomingPacket {
  package let header: RTPHeader
  package private(set) var mid: RTPStreamID?
  package var transportNumber: TransportSequenceNumber?
  package private(set) var audioLevel: AudioLevelIndication?

  package init(_ header: RTPHeader, in packet: Span<UInt8>, map: RTPHeaderExtensionMap) {
    self.header = header
    let (midID, numberID, levelID) = (map[.mid], map[.transportSequenceNumber], map[.audioLevel])
    guard midID != nil || numberID != nil || levelID != nil else { return }
    var elements = header.extensionElements(in: packet)
    while let element = elements.next() {
      if element.id == midID {
        mid = RTPStreamID(parsing: packet.extracting(element.range))
      } else if element.id == numberID {
        transportNumber = TransportSequenceNumber(parsing: packet.extracting(element.range))
      } else if element.id == levelID {
        audioLevel = AudioLevelIndication(parsing: packet.extracting(element.range))
      }
    }
  }
}
