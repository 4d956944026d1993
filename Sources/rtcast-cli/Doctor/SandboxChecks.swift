import RTCIsolation

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
