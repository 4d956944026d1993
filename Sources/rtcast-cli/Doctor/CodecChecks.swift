import RTCMedia
import RTCast

/// The codecs of this build.
enum CodecChecks {
  static func run() -> [Check] {
    let codecs = CodecRegistry.standard.codecs
    guard !codecs.isEmpty else {
      return [
        .fails("Codecs", "none in this build", advice: "Build with libvpx: \(Distribution.advice(for: .vpxHeaders)).")
      ]
    }
    return codecs.map { .works($0.rawValue, CodecRegistry.standard.library(for: $0) ?? "encoder present") }
  }
}
