/// Why a session description could not be read, and where. The text is always the peer's fault.
public struct SDPError: Error, Hashable, Sendable {
  /// The line the fault was found on, counted from 1; 0 when it is the text as a whole.
  public var line: Int
  /// The reason.
  public var reason: Reason

  /// The reason for refusing a description.
  public enum Reason: Hashable, Sendable {
    /// More than `PeerLimits` allows of the thing named.
    case tooMany(String, limit: Int)
    /// A byte below 0x20 other than a tab inside a line.
    case controlCharacter
    /// Not of the form `x=value`.
    case notALine
    /// A type letter that RFC 8866 does not define.
    case unknownType
    /// A known line at a place where it may not stand.
    case misplaced(String)
    /// `v=` with another number than 0.
    case unsupportedVersion
    /// A line that every description must have.
    case missing(String)
    /// A field or attribute whose value does not follow its grammar or is out of range.
    case invalid(String)
    /// Something that must be unique is said twice with different meanings.
    case duplicate(String)
  }

  /// The fault `reason` on line `line`, counted from 1; 0: in the text as a whole.
  public init(line: Int, reason: Reason) {
    self.line = line
    self.reason = reason
  }
}

extension SDPError: CustomStringConvertible {
  /// The reason, with the line where it is known.
  public var description: String { line == 0 ? "SDP: \(reason)" : "SDP line \(line): \(reason)" }
}

extension SDPError.Reason: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .tooMany(let what, let limit): "more than \(limit) \(what)"
    case .controlCharacter: "control character"
    case .notALine: "not of the form x=value"
    case .unknownType: "unknown type letter"
    case .misplaced(let what): "\(what) is misplaced"
    case .unsupportedVersion: "version is not 0"
    case .missing(let what): "\(what) is missing"
    case .invalid(let what): "\(what) is malformed or out of range"
    case .duplicate(let what): "\(what) is given twice"
    }
  }
}
