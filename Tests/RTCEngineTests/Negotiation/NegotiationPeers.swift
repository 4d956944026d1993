import RTCEngine
import RTCPrimitives
import RTCWire

/// Ready-made ends of a negotiation.
enum Peers {
  static let vp8 = CodecCapability(
    name: "VP8", clockRate: 90_000, feedback: [.nack, .pli, .fir, .transportCC, .remb], retransmits: true,
    preferredPayloadType: PayloadType(96))
  static let h264 = CodecCapability(
    name: "H264", clockRate: 90_000,
    parameters: FormatParameters("level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"),
    feedback: [.nack, .pli], retransmits: true, preferredPayloadType: PayloadType(102))
  static let opus = CodecCapability(
    name: "opus", clockRate: 48_000, channels: 2, parameters: FormatParameters("minptime=10;useinbandfec=1"),
    feedback: [.transportCC], preferredPayloadType: PayloadType(111))

  static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
  static let transportCC = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
  static let playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"

  static func credentials(_ letter: Character) -> ICECredentials {
    ICECredentials(
      usernameFragment: String(repeating: letter, count: 4), password: String(repeating: letter, count: 24))
  }

  static func transport(_ letter: Character) -> LocalTransport {
    LocalTransport(
      credentials: credentials(letter), fingerprint: Array(repeating: letter.asciiValue ?? 0, count: 32))
  }

  static func video(
    _ direction: MediaDirection = .sendonly, codecs: [CodecCapability] = [vp8], ssrc: UInt32 = 1_000
  ) -> LocalTransceiver {
    LocalTransceiver(
      kind: .video, direction: direction, codecs: codecs,
      headerExtensions: [
        HeaderExtensionCapability(uri: mid), HeaderExtensionCapability(uri: transportCC),
        HeaderExtensionCapability(uri: playoutDelay, direction: .sendonly),
      ], track: LocalTrack(streamID: "screen", trackID: "video", ssrc: SSRC(ssrc), rtxSSRC: SSRC(ssrc + 1)))
  }

  static func audio(_ direction: MediaDirection = .sendonly, ssrc: UInt32 = 2_000) -> LocalTransceiver {
    LocalTransceiver(
      kind: .audio, direction: direction, codecs: [opus], headerExtensions: [HeaderExtensionCapability(uri: mid)],
      track: LocalTrack(streamID: "screen", trackID: "audio", ssrc: SSRC(ssrc)))
  }

  static func end(_ letter: Character, _ media: LocalTransceiver...) -> Negotiation {
    var end = Negotiation(sessionID: 7, cname: "cname-\(letter)", transport: transport(letter))
    for item in media { _ = end.add(item) }
    return end
  }
}

/// One whole exchange, through text.
func exchange(_ offerer: inout Negotiation, _ answerer: inout Negotiation) throws {
  let offer = try SessionDescription(parsing: offerer.createOffer().description)
  try answerer.setRemoteOffer(offer)
  let answer = try SessionDescription(parsing: answerer.createAnswer().description)
  try offerer.setRemoteAnswer(answer)
}
