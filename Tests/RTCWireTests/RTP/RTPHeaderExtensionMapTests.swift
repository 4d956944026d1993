import RTCWire
import Testing

@Suite struct RTPHeaderExtensionMapTests {
  @Test func `look-ups go both ways`() {
    var map = RTPHeaderExtensionMap()
    #expect(map.isEmpty && map[.mid] == nil && map.uri(id: 3) == nil)
    map[.mid] = 3
    map[.absSendTime] = 14
    #expect(map[.mid] == 3 && map.uri(id: 3) == .mid && map.uri(id: 14) == .absSendTime)
    #expect(map.uri(id: 0) == nil && map.uri(id: 255) == nil)
    #expect(!map.needsTwoByteForm)
    #expect("\(map)" == "3=\(RTPHeaderExtensionURI.mid) 14=\(RTPHeaderExtensionURI.absSendTime)")
  }

  @Test func `an identifier belongs to the last who took it`() {
    var map = RTPHeaderExtensionMap(offering: [.mid, .absSendTime])
    map[.rid] = 1
    #expect(map[.mid] == nil && map.uri(id: 1) == .rid && map[.absSendTime] == 2)
    map[.rid] = 5
    #expect(map.uri(id: 1) == nil && map.uri(id: 5) == .rid)
    map[.rid] = nil
    #expect(map.uri(id: 5) == nil && map[.rid] == nil)
  }

  @Test func `an identifier over 14 asks for the two-byte form`() {
    var map = RTPHeaderExtensionMap(offering: RTPHeaderExtensionURI.allCases)
    #expect(!map.needsTwoByteForm)
    map[.audioLevel] = 255
    #expect(map.needsTwoByteForm && map.uri(id: 255) == .audioLevel)
    map[.audioLevel] = nil
    #expect(!map.needsTwoByteForm)
  }

  @Test func `maps are equal by what they map`() {
    var longer = RTPHeaderExtensionMap(offering: [.mid])
    longer[.rid] = 9
    longer[.rid] = nil
    #expect(longer == RTPHeaderExtensionMap(offering: [.mid]))
  }

  @Test func `URIs read as SDP writes them`() {
    #expect(RTPHeaderExtensionURI(rawValue: "urn:3gpp:video-orientation") == .videoOrientation)
    #expect(RTPHeaderExtensionURI(rawValue: "urn:3gpp:video-orientatiom") == nil)
  }
}
