import ArgumentParser
import RTCast
package import RTCMedia

/// The value of `--codec`.
package enum CodecOption: Hashable, ExpressibleByArgument {
  /// Chosen by viewers, content and machine.
  case auto
  /// For all who can decode it.
  case codec(VideoCodec)

  /// `auto`, or a codec by its name, in any case; whether this program encodes it is looked at later, where more can be said.
  package init?(argument: String) {
    if argument.lowercased() == "auto" {
      self = .auto
    } else {
      guard let codec = VideoCodec(rawValue: argument.uppercased()) else { return nil }
      self = .codec(codec)
    }
  }

  /// The possible values.
  package static var allValueStrings: [String] { ["auto"] + CodecRegistry.standard.codecs.map(\.rawValue) }

  /// Nil for `auto`.
  package var codec: VideoCodec? {
    guard case .codec(let codec) = self else { return nil }
    return codec
  }
}
