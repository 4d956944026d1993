import RTCPrimitives
import RTCSRTP

func makeKeys(_ profile: SRTPProfile) -> (sender: SRTPKeys, receiver: SRTPKeys) {
  let a = SRTPMasterKey(
    key: (0..<16).map { UInt8($0) }, salt: (0..<profile.saltLength).map { UInt8(0xA0 + $0) })
  let b = SRTPMasterKey(
    key: (0..<16).map { UInt8(0x40 + $0) }, salt: (0..<profile.saltLength).map { UInt8(0xC0 + $0) })
  return (
    SRTPKeys(profile: profile, local: a, remote: b), SRTPKeys(profile: profile, local: b, remote: a)
  )
}

/// Both ends of one association.
struct SRTPPair: ~Copyable {
  var sender: SRTPSession
  var receiver: SRTPSession

  init(_ profile: SRTPProfile) throws(SRTPError) {
    let keys = makeKeys(profile)
    let sender = try SRTPSession(keys: keys.sender)
    let receiver = try SRTPSession(keys: keys.receiver)
    self.sender = sender
    self.receiver = receiver
  }
}

func rtpPacket(_ sequence: UInt16, ssrc: UInt32 = 0xCAFE_BABE, payload: Int = 100) -> [UInt8] {
  [0x80, 96, UInt8(sequence >> 8), UInt8(sequence & 0xFF), 0, 0, 0, 1]
    + (0..<4).map { UInt8(truncatingIfNeeded: ssrc >> UInt32(24 - 8 * $0)) }
    + (0..<payload).map { UInt8(truncatingIfNeeded: $0) }
}

/// A receiver report of one block.
let rtcpPacket: [UInt8] = [0x81, 201, 0, 7] + [UInt8](repeating: 7, count: 28)

/// Not inlined: where the result is thrown away, Swift 6.3's optimizer else frees the array before the bytes are copied to it.
extension SRTPSession {
  @inline(never) mutating func protectedRTP(_ packet: [UInt8]) throws(SRTPError) -> [UInt8] {
    var room = packet + [UInt8](repeating: 0, count: SRTPSession.headroom)
    var span = room.mutableSpan
    let count = try protectRTP(&span, count: packet.count)
    return Array(room[..<count])
  }

  @inline(never) mutating func protectedRTCP(_ packet: [UInt8]) throws(SRTPError) -> [UInt8] {
    var room = packet + [UInt8](repeating: 0, count: SRTPSession.headroom)
    var span = room.mutableSpan
    let count = try protectRTCP(&span, count: packet.count)
    return Array(room[..<count])
  }

  @inline(never) mutating func openedRTP(_ packet: [UInt8]) throws(SRTPError) -> [UInt8] {
    var room = packet
    var span = room.mutableSpan
    let count = try unprotectRTP(&span)
    return Array(room[..<count])
  }

  @inline(never) mutating func openedRTCP(_ packet: [UInt8]) throws(SRTPError) -> [UInt8] {
    var room = packet
    var span = room.mutableSpan
    let count = try unprotectRTCP(&span)
    return Array(room[..<count])
  }
}
