import RTCCaptureFile
import RTCMedia
import RTCSignalingNIO
import RTCast

/// The end of a command with an error, as one sentence and an exit status.
package struct CastFailure: Error {
  package var status: ExitStatus
  package var sentence: String

  init(_ status: ExitStatus, _ sentence: String) {
    self.status = status
    self.sentence = sentence
  }

  init(_ error: CaptureError) {
    let status: ExitStatus =
      switch error {
      case .alreadyStarted: .software
      case .noSuchSource, .unsupportedFormat: .noInput
      case .unavailable: .unavailable
      case .notPermitted: .notPermitted
      }
    self.init(status, error.sentence)
  }

  init(_ error: SignalingServerError) {
    switch error {
    case .portTaken(let address):
      self.init(
        .unavailable,
        "Port \(address.port) at \(address.host.text) is in use; stop the program that uses it, or choose another port with "
          + "--listen (0 picks a free one).")
    case .badCertificate: self.init(.noInput, error.description)
    case .notPermitted: self.init(.notPermitted, error.description)
    case .notThisMachine, .unknownHost, .failed: self.init(.unavailable, error.description)
    }
  }

  init(_ error: RecordingError) {
    let status: ExitStatus =
      switch error {
      case .unknownContainer, .unsupportedCodec: .usage
      case .alreadyExists, .noSuchFolder: .cannotCreate
      case .notPermitted: .notPermitted
      case .unavailable: .unavailable
      }
    self.init(status, error.sentence)
  }

  init(_ failure: PublishFailure) {
    let status: ExitStatus =
      switch failure.kind {
      case .misuse: .usage
      case .unreachable: .unavailable
      case .notPermitted: .notPermitted
      case .protocolViolation: .protocolError
      }
    self.init(status, failure.sentence)
  }
}
