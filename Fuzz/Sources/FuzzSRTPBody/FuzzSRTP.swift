import RTCPrimitives
import RTCSRTP

/// Packets of a peer or a stranger in place of SRTP and SRTCP. The first byte gives the profile. Then come steps: a
/// byte gives the kind of packet and its origin.
///
///  - Bytes that were not encrypted: never authentic, and not remembered.
///  - A packet of any form that a sender with the keys encrypted: it is decrypted unchanged, once, unless so many are
///    missing that no receiver could follow.
///  - One of those, late, repeated, cut short or changed: it is decrypted only if it was not before and is unchanged.
public func fuzzSRTP(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  guard let said = reader.readUInt8() else { return }
  var run = SRTPRun(profile: said & 1 == 0 ? .aeadAes128Gcm : .aes128CmSha1_80)
  while let step = reader.readUInt8() {
    let argument = reader.readUInt8() ?? 0
    switch step & 7 {
    case 0, 1:
      let count = min(reader.remaining, Int(argument))
      guard let part = reader.read(count) else { return }
      run.receiveUnprotected(part, isRTCP: step & 1 == 1)
    case 2, 3:
      let count = min(reader.remaining, Int(argument))
      guard let part = reader.read(count) else { return }
      run.send(part, isRTCP: step & 1 == 1, isLost: step & 8 != 0)
    case 4: run.receive(Int(argument), change: .none)
    case 5: run.receive(Int(argument), change: .cut(Int(step >> 3)))
    case 6: run.receive(Int(argument), change: .bit(Int(step >> 3) * 8 + Int(reader.readUInt8() ?? 0)))
    default: run.jump(by: UInt16(argument) << 8 | UInt16(step))
    }
  }
}

/// Two ends, and what went from one to the other.
private struct SRTPRun: ~Copyable {
  enum Change {
    case none
    case cut(Int)
    case bit(Int)
  }

  struct Packet {
    let isRTCP: Bool
    let plain: [UInt8]
    let protected: [UInt8]
    /// RTP: its sequence number, and the number of rollovers.
    let index: Int
    var isOpened = false
  }

  static let kept = 64

  let profile: SRTPProfile
  var sender: SRTPSession
  var receiver: SRTPSession
  var sent: [Packet] = []
  var next = 65_500
  var lastSent = 65_499
  /// The highest index of RTP that was opened.
  var highest: Int?

  init(profile: SRTPProfile) {
    func master(_ start: UInt8) -> SRTPMasterKey {
      SRTPMasterKey(
        key: (0..<profile.keyLength).map { start + UInt8($0) }, salt: (0..<profile.saltLength).map { start ^ UInt8($0) }
      )
    }
    self.profile = profile
    let keys = SRTPKeys(profile: profile, local: master(1), remote: master(101))
    let sender = try! SRTPSession(keys: keys)
    let receiver = try! SRTPSession(keys: SRTPKeys(profile: profile, local: keys.remote, remote: keys.local))
    self.sender = sender
    self.receiver = receiver
  }

  mutating func receiveUnprotected(_ bytes: Span<UInt8>, isRTCP: Bool) {
    let sources = receiver.inboundSources
    var packet: [UInt8] = []
    packet.append(bytes)
    precondition(open(&packet, isRTCP: isRTCP) == nil, "taken without a tag")
    precondition(receiver.inboundSources == sources, "remembered without a tag")
  }

  /// Protects `body` behind a header; a sequence number comes once.
  mutating func send(_ body: Span<UInt8>, isRTCP: Bool, isLost: Bool) {
    var packet: [UInt8] = []
    packet.append(body)
    if isRTCP {
      packet = [0x80, 200, 0, 0, 0, 0, 0, UInt8(body.count) & 3] + packet
    } else {
      // The body's first byte says how many CSRCs and whether an extension follow: with too few bytes it is no packet.
      let flags = (packet.first ?? 0) & 0x1F
      packet = [0x80 | flags, 96, UInt8(next >> 8 & 0xFF), UInt8(next & 0xFF), 0, 0, 0, 0, 0, 0, 0, 1] + packet
    }
    var room = packet + [UInt8](repeating: 0, count: SRTPSession.headroom)
    var span = room.mutableSpan
    let count: Int
    do throws(SRTPError) {
      count =
        isRTCP
        ? try sender.protectRTCP(&span, count: packet.count) : try sender.protectRTP(&span, count: packet.count)
    } catch {
      precondition(error == .malformed, "not sent")
      return
    }
    precondition(count == packet.count + (isRTCP ? profile.rtcpOverhead : profile.rtpOverhead))
    if sent.count == Self.kept { sent.removeFirst() }
    sent.append(Packet(isRTCP: isRTCP, plain: packet, protected: Array(room[..<count]), index: next))
    if !isRTCP {
      lastSent = next
      next += 1
    }
    if !isLost { receive(0, change: .none) }
  }

  /// The packet `age` before the last arrives, as it was or not.
  mutating func receive(_ age: Int, change: Change) {
    guard !sent.isEmpty else { return }
    let place = sent.count - 1 - age % sent.count
    var packet = sent[place].protected
    switch change {
    case .none: break
    case .cut(let count): packet.removeLast(min(packet.count, count))
    case .bit(let bit): packet[bit / 8 % packet.count] ^= 1 << UInt8(bit % 8)
    }
    let isChanged = packet != sent[place].protected
    guard let count = open(&packet, isRTCP: sent[place].isRTCP) else {
      precondition(isChanged || sent[place].isOpened || !isFollowed(sent[place]), "not taken")
      return
    }
    precondition(!isChanged, "changed, and taken")
    precondition(!sent[place].isOpened, "taken twice")
    precondition(Array(packet[..<count]) == sent[place].plain, "taken, and not what was sent")
    sent[place].isOpened = true
    if !sent[place].isRTCP { highest = max(highest ?? 0, sent[place].index) }
  }

  /// Whether the receiver must find the packet's index. Of reports the last ones are kept, which are always in the
  /// window.
  private func isFollowed(_ packet: Packet) -> Bool {
    guard !packet.isRTCP else { return true }
    guard let highest else { return packet.index < 65_536 }
    return packet.index > highest - 1024 && packet.index < highest + 32_768
  }

  /// Leaves out sequence numbers, of which the sender's own packets may miss fewer than half the circle.
  mutating func jump(by step: UInt16) { next = min(next + Int(step & 0x0FFF), lastSent + 30_000) }

  private mutating func open(_ packet: inout [UInt8], isRTCP: Bool) -> Int? {
    let count = packet.count
    var span = packet.mutableSpan
    guard let opened = isRTCP ? try? receiver.unprotectRTCP(&span) : try? receiver.unprotectRTP(&span) else {
      return nil
    }
    precondition(opened == count - (isRTCP ? profile.rtcpOverhead : profile.rtpOverhead))
    precondition(receiver.inboundSources <= PeerLimits.sources)
    return opened
  }
}
