import ArgumentParser
import Glibc
import RTCMedia

/// The sysexits this program uses.
enum ExitStatus: Int32 {
  case usage = 64
  case noInput = 66
  case unavailable = 69
  case software = 70
  case protocolError = 76
  case notPermitted = 77

  var code: ExitCode { ExitCode(rawValue) }
}

/// An end that is told to the person in one sentence.
struct CastFailure: Error {
  var status: ExitStatus
  var sentence: String

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
}
