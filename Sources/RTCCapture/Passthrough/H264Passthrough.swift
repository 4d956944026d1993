package import RTCMedia
package import RTCWire

// The kinds of H.264 that browsers accept unchanged, from a file or a camera.
extension H264SequenceParameterSet {
  /// Why the pictures cannot be sent as they are; nil when browsers take them.
  package var passthroughRefusal: String? {
    if isInterlaced { return "The pictures are interlaced H.264, which browsers do not take." }
    guard profileLevelID == nil || chromaFormat > 1 || bitDepth > 8 else { return nil }
    return "The pictures are H.264 of profile \(profile) (\(bitDepth) bits), which browsers do not take; "
      + "they take baseline, main and high."
  }

  /// Why pictures of which some refer to later ones cannot be sent as they are.
  package static let outOfOrderRefusal =
    "The pictures are coded out of order (B-frames), which browsers cannot follow in a live stream."

  /// The format that viewers are offered when the pictures are sent as they are.
  package var passthroughFormat: EncodedVideoFormat {
    let profile = profileLevelID?.description ?? ""
    return EncodedVideoFormat(
      codec: .h264, parameters: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\(profile)", size: size
    )
  }
}
