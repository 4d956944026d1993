import CLinux
import Glibc

/// What a decoder's process may still do after it gave its rights up.
package struct Confinement: Hashable, Sendable {
  /// Rights that no decoder needs.
  package struct Rights: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// To open files.
    package static let files = Rights(rawValue: UInt32(clinux_right_files.rawValue))
    /// To make and connect sockets.
    package static let sockets = Rights(rawValue: UInt32(clinux_right_sockets.rawValue))
    /// To start programs.
    package static let programs = Rights(rawValue: UInt32(clinux_right_programs.rawValue))
    /// To look into other processes and end them.
    package static let processes = Rights(rawValue: UInt32(clinux_right_processes.rawValue))
    /// To make code of data.
    package static let code = Rights(rawValue: UInt32(clinux_right_code.rawValue))
  }

  /// Addresses of the process in all, those of its libraries and of shared memory included. Far above what 8K takes.
  private static let mostMemory: UInt64 = 4 << 30

  /// Why the system refused the filter of system calls; 0: it did not.
  package var error: Int32
  /// What the process could do when it tried.
  package var rightsLeft: Rights

  package init(error: Int32, rightsLeft: Rights) {
    self.error = error
    self.rightsLeft = rightsLeft
  }

  /// Nothing is left but to decode.
  package var isWhole: Bool { error == 0 && rightsLeft.isEmpty }

  /// Takes from this process, for good, what a decoder does not need, and tries whether that is so. Libraries must be loaded
  /// before.
  /// - Parameter largestSegment: bytes of one piece of memory to share at most.
  package static func enter(largestSegment: Int64 = DecoderChild.largestSegment) -> Confinement {
    var error = clinux_leave_all()
    let limits = clinux_limit_resources(mostMemory, UInt64(largestSegment))
    if error == 0 { error = limits }
    let filter = clinux_confine()
    if error == 0 { error = filter }
    return Confinement(error: -error, rightsLeft: Rights(rawValue: UInt32(clinux_rights_left())))
  }

  /// One sentence for a person: what is not taken, and why.
  package var description: String {
    isWhole
      ? "Received video is decoded in a process without files, sockets and programs."
      : shortcoming(of: "received video")
  }

  /// One sentence for a person: what is not taken from the process that decodes `media` ("files"), and why.
  package func shortcoming(of media: String) -> String {
    let names: [(Rights, String)] = [
      (.files, "open files"), (.sockets, "open sockets"), (.programs, "start programs"),
      (.processes, "reach other processes"), (.code, "run new code"),
    ]
    let left = names.filter { rightsLeft.contains($0.0) }.map(\.1)
    let may = left.isEmpty ? "" : ", which may still \(left.joined(separator: ", "))"
    let reason = error == 0 ? "" : unsafe ": \(String(cString: strerror(error))) (errno \(error))"
    return "This system does not confine the process that decodes \(media)\(may)\(reason)."
  }
}
