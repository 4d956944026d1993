package import RTCMedia

/// Whether a file's pictures can be sent as they are.
package enum PassthroughDecision: Hashable, Sendable {
  case passable(EncodedVideoFormat)
  /// The pictures cannot be passed on, for this reason, a sentence about the file.
  case refused(String)

  /// Decides by what the container says alone; what only the packets tell comes up later, see
  /// `VideoPassthroughStream.impassable`.
  package init(_ stream: StreamDescription) {
    do {
      self = .passable(try VideoPassthroughStream(stream).format)
    } catch {
      self = .refused(error.sentence)
    }
  }
}

/// The reason why a file's pictures cannot be sent as they are.
package struct PassthroughRefusal: Error, Hashable, Sendable {
  /// About the file, complete: "The pictures …".
  package let sentence: String
}

extension PassthroughFactory {
  /// H.264, VP8, VP9, AV1 and Opus, where browsers can take them.
  package static let standard = PassthroughFactory(
    video: { try? VideoPassthroughStream($0) }, audio: { OpusPassthroughStream($0) })
}
