import RTCIsolation
import RTCMedia

/// The process that decodes what others send.
enum IsolationChecks {
  static func run() -> [Check] {
    do throws(VideoDecoderError) {
      let confinement = try IsolatedDecoders.rtcast(report: { _ in }).check()
      guard confinement.isWhole else {
        return [
          .lacks(
            name, confinement.description,
            advice: "Allow seccomp(2) here, as the default profiles of Docker and Podman do.")
        ]
      }
      return [.works(name, confinement.description)]
    } catch {
      return [
        .lacks(
          name, "The process that decodes received video does not start, so `watch` and `call` show none: \(error).",
          advice: "Mount /proc, and allow rtcast to start itself.")
      ]
    }
  }

  private static let name = "Decoders"
}
