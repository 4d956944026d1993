import CLinux
import Glibc

/// The rights that a decoder's process still has after it gave up the others.
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

  /// The limit of the process's address space, with its libraries and shared memory. It is far above the need of 8K.
  private static let mostMemory: UInt64 = 4 << 30

  /// The errno with which the system refused to confine the process; 0 if it did not refuse.
  package var error: Int32
  /// The rights that the process found itself to have when it tried them.
  package var rightsLeft: Rights

  package init(error: Int32, rightsLeft: Rights) {
    self.error = error
    self.rightsLeft = rightsLeft
  }

  /// Whether the process can do nothing but decode.
  package var isWhole: Bool { error == 0 && rightsLeft.isEmpty }

  /// Gives up, for good, all rights of this process that a decoder does not need, and tries whether they are gone.
  /// Libraries must be loaded before.
  /// - Parameter largestSegment: the most bytes of one piece of shared memory.
  package static func enter(largestSegment: Int64 = DecoderChild.largestSegment) -> Confinement {
    var error = clinux_leave_all()
    let limits = clinux_limit_resources(mostMemory, UInt64(largestSegment))
    if error == 0 { error = limits }
    let filter = clinux_confine()
    if error == 0 { error = filter }
    return Confinement(error: -error, rightsLeft: Rights(rawValue: UInt32(clinux_rights_left())))
  }

  /// One sentence for a person: the rights that are left, and why.
  package var description: String {
    isWhole
      ? "Received video is decoded in a process without files, sockets and programs."
      : shortcoming(of: "received video")
  }

  /// One sentence for a person: the rights that are left to the process that decodes `media` ("files"), and why.
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
