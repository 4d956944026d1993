import RTCIsolation
import RTCMedia

/// How far this process is confined, as every command is: what should be refused is tried.
enum SandboxChecks {
  private static let name = "Confinement"

  static func run() -> [Check] {
    guard let sandbox = ProgramSandbox.current else {
      return [.lacks(name, "off", advice: "Leave out --no-sandbox.")]
    }
    let allowed = Sandbox.tryAll()
    if let shortcoming = sandbox.shortcoming {
      return [
        .lacks(
          name, "\(sandbox.description). \(shortcoming)",
          advice:
            "Use Linux 5.13 or later with Landlock (lsm=landlock,… on the kernel's command line), and allow seccomp(2) "
            + "in containers, as the default profiles of Docker and Podman do.")
      ]
    }
    guard allowed.isEmpty else {
      return [
        .lacks(
          name, "not refused: " + allowed.map(\.rawValue).joined(separator: ", "),
          advice: "rtcast should not be able to do this; please report it.")
      ]
    }
    return [.works(name, sandbox.description)]
  }
}

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
