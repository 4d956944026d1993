import RTCSignaling
import RTCWire

/// Finds offers that could be answered but would not get what they ask for, so that the viewer is refused with the
/// reason.
enum UnservedOffer {
  /// - Parameters:
  ///   - codecs: the supported video codecs.
  ///   - sendsVideo: whether the stream has pictures, or may have them later.
  /// - Returns: nil if the offer can be served.
  static func refusal(
    of offer: String, answeredBy answer: String, sendsVideo: Bool, sendsAudio: Bool, codecs: @autoclosure () -> String
  ) -> WHEPRefusal? {
    guard let offer = try? SessionDescription(parsing: offer), let answer = try? SessionDescription(parsing: answer)
    else { return nil }
    let wanted = offer.media.indices.filter { offer.media[$0].wantsMedia }
    guard !wanted.isEmpty else {
      let hasMedia = offer.media.contains { $0.isMedia && !$0.isRejected }
      return hasMedia
        ? .unusableOffer("all its media are sendonly or inactive, and a viewer's are recvonly") : nil
    }
    let accepted = offer.media.indices.filter { $0 < answer.media.count && !answer.media[$0].isRejected }
    for (kind, isSent) in [(MediaDescription.Kind.video, sendsVideo), (.audio, sendsAudio)] where isSent {
      let sections = wanted.filter { offer.media[$0].kind == kind }
      guard !sections.isEmpty, !sections.contains(where: accepted.contains) else { continue }
      let isApart = sections.allSatisfy { offer.isApart($0, from: accepted) }
      if isApart {
        return .unusableOffer(
          "its \(kind == .video ? "video" : "audio") is not in the BUNDLE group of the rest, and all goes by one transport here"
        )
      }
      if kind == .video { return .noCommonCodec(offered: codecs() + offer.aboutH264(sections)) }
    }
    return nil
  }
}

extension MediaDescription {
  fileprivate var isMedia: Bool { kind == .video || kind == .audio }
  /// Whether a section of a viewer asks for media.
  fileprivate var wantsMedia: Bool { isMedia && !isRejected && direction.receives }
}

extension SessionDescription {
  /// Something else was accepted, and no group holds both.
  fileprivate func isApart(_ index: Int, from accepted: [Int]) -> Bool {
    guard !accepted.isEmpty else { return false }
    let mids = Set(accepted.compactMap { media[$0].mid })
    guard let mid = media[index].mid else { return true }
    return !bundles.contains { group in group.contains(mid) && group.contains { mids.contains($0) } }
  }

  /// The hint for a viewer that accepts H.264 in single NAL units only, which are too small for pictures.
  fileprivate func aboutH264(_ sections: [Int]) -> String {
    let offered = sections.flatMap { media[$0].payloads.filter { $0.isNamed("H264") } }
    let isModeZero = !offered.isEmpty && offered.allSatisfy { ($0.parameters.number("packetization-mode") ?? 0) == 0 }
    return isModeZero ? " (H264 in packetization-mode 1)" : ""
  }
}
