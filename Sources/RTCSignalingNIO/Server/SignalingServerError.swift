public import RTCSignaling

/// Why the server could not start.
public enum SignalingServerError: Error, Sendable, Equatable, CustomStringConvertible {
  case portTaken(ListenAddress)
  case notPermitted(ListenAddress)
  /// No interface of this machine has the address.
  case notThisMachine(ListenAddress)
  case unknownHost(ListenAddress)
  case failed(ListenAddress, reason: String)
  /// The certificate or its key cannot be used; half a sentence that says why.
  case badCertificate(String)

  /// A sentence for the user: the failure and, if possible, the remedy.
  public var description: String {
    switch self {
    case .portTaken(let address):
      "Port \(address.port) at \(address.host.text) is taken; choose another, or 0 for any free one."
    case .notPermitted(let address):
      "Listening at \(address) is not permitted; ports below 1024 need privileges, so choose a higher one."
    case .notThisMachine(let address): "No network interface of this machine has the address \(address.host.text)."
    case .unknownHost(let address): "There is no host named \(address.host.text); give an address of this machine."
    case .badCertificate(let problem): "The certificate and key for TLS cannot be used: \(problem)."
    case .failed(let address, let reason): "Listening at \(address) failed: \(reason)."
    }
  }
}
