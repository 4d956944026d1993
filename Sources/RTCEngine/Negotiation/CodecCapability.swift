package import RTCPrimitives
package import RTCWire

/// The kinds of RTCP feedback that a receiver of media may send.
package struct FeedbackMechanisms: OptionSet, Hashable, Sendable {
  /// One bit for each mechanism.
  package var rawValue: UInt8
  /// A set by its bits; unknown ones mean nothing.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Generic NACK (RFC 4585 §6.2.1).
  package static let nack = FeedbackMechanisms(rawValue: 1)
  /// Picture loss indication (RFC 4585 §6.3.1).
  package static let pli = FeedbackMechanisms(rawValue: 2)
  /// Full intra request (RFC 5104 §4.3.1).
  package static let fir = FeedbackMechanisms(rawValue: 4)
  /// Transport-wide congestion control.
  package static let transportCC = FeedbackMechanisms(rawValue: 8)
  /// Receiver estimated maximum bit rate.
  package static let remb = FeedbackMechanisms(rawValue: 16)

  private static let names: [(FeedbackMechanisms, String)] = [
    (.remb, "goog-remb"), (.transportCC, "transport-cc"), (.fir, "ccm fir"), (.nack, "nack"), (.pli, "nack pli"),
  ]

  init(_ messages: [String]) {
    self = []
    for (mechanism, name) in Self.names where messages.contains(name) { insert(mechanism) }
  }

  /// The values after the payload type of `a=rtcp-fb`.
  var messages: [String] { Self.names.filter { contains($0.0) }.map(\.1) }
}

/// A codec we can use, with the parameters we want when receiving.
package struct CodecCapability: Hashable, Sendable {
  /// The registered encoding name: `VP8`, `H264`, `opus`.
  package var name: String
  /// Hertz.
  package var clockRate: UInt32
  /// Channels of sound, as `a=rtpmap` says them; 1 for video.
  package var channels: UInt8
  /// The parameters that we ask for in `a=fmtp` when receiving.
  package var parameters: FormatParameters
  /// The feedback that we can send and use; the common part is negotiated.
  package var feedback: FeedbackMechanisms
  /// True to retransmit by RFC 4588 where the peer can too.
  package var retransmits: Bool
  /// The number we offer it under if that is still free; any other otherwise.
  package var preferredPayloadType: PayloadType?

  /// A codec without parameters, feedback and retransmission, unless they are given.
  package init(
    name: String, clockRate: UInt32, channels: UInt8 = 1, parameters: FormatParameters = FormatParameters(),
    feedback: FeedbackMechanisms = [], retransmits: Bool = false, preferredPayloadType: PayloadType? = nil
  ) {
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
    self.parameters = parameters
    self.feedback = feedback
    self.retransmits = retransmits
    self.preferredPayloadType = preferredPayloadType
  }

  /// How packets are repaired, and no codec of media: named beside codecs, agreed on as they are.
  package var isRepair: Bool { Self.repairNames.contains(name.lowercased()) }

  private static let repairNames = ["red", "ulpfec", "flexfec-03"]

  /// Repair packets for video: FlexFEC, and ULPFEC in RED for remote peers without it. RED has RTX if media has it:
  /// libwebrtc does not retransmit formats without RTX.
  static let videoRepair = [
    CodecCapability(name: "red", clockRate: 90_000, retransmits: true, preferredPayloadType: PayloadType(118)),
    CodecCapability(name: "ulpfec", clockRate: 90_000, preferredPayloadType: PayloadType(120)),
    CodecCapability(
      name: "flexfec-03", clockRate: 90_000, parameters: FormatParameters("repair-window=10000000"),
      feedback: [.transportCC, .remb], preferredPayloadType: PayloadType(49)),
  ]

  /// Sound with what earlier packets brought (RFC 2198).
  static let audioRedundancy = CodecCapability(
    name: "red", clockRate: 48_000, channels: 2, preferredPayloadType: PayloadType(63))

  /// True when a stream in the described format is one of this codec (each codec's RFC says which parameters count).
  package func matches(_ format: PayloadFormat) -> Bool {
    guard format.isNamed(name), format.clockRate == clockRate, format.channels == channels else { return false }
    let theirs = format.parameters
    return switch name.lowercased() {
    case "h264": Self.h264Matches(parameters, theirs)
    case "vp9": (parameters.number("profile-id") ?? 0) == (theirs.number("profile-id") ?? 0)
    case "av1": (parameters.number("profile") ?? 0) == (theirs.number("profile") ?? 0)
    default: true  // VP8 and Opus: every parameter is a hint to the sender
    }
  }

  /// The parameters to answer a matching offer with: our own, except that H.264 without level asymmetry must agree on
  /// one level (RFC 6184 §8.2.2).
  package func answerParameters(to format: PayloadFormat) -> FormatParameters {
    guard name.lowercased() == "h264",
      let ours = Self.h264Profile(parameters), let theirs = Self.h264Profile(format.parameters)
    else { return parameters }
    let asymmetric = [parameters, format.parameters].allSatisfy { $0.number("level-asymmetry-allowed") == 1 }
    let agreed = H264ProfileLevelID(
      profile: ours.profile, level: asymmetric ? ours.level : min(ours.level, theirs.level))
    return FormatParameters(
      (asymmetric ? "level-asymmetry-allowed=1;" : "")
        + "packetization-mode=\(parameters.number("packetization-mode") ?? 0);profile-level-id=\(agreed)")
  }

  private static func h264Matches(_ ours: FormatParameters, _ theirs: FormatParameters) -> Bool {
    guard let a = h264Profile(ours), let b = h264Profile(theirs) else { return false }
    return a.profile == b.profile
      && (ours.number("packetization-mode") ?? 0) == (theirs.number("packetization-mode") ?? 0)
  }

  private static func h264Profile(_ parameters: FormatParameters) -> H264ProfileLevelID? {
    guard let text = parameters["profile-level-id"] else { return .assumed }
    return H264ProfileLevelID(parsing: text)
  }
}
