import ArgumentParser
import RTCCaptureFile
import RTCMedia
import RTCSignalingNIO
import RTCast

/// The sysexits this program uses.
package enum ExitStatus: Int32, Sendable {
  case usage = 64
  case badData = 65
  case noInput = 66
  case unavailable = 69
  case software = 70
  case cannotCreate = 73
  case outputError = 74
  case protocolError = 76
  case notPermitted = 77

  var code: ExitCode { ExitCode(rawValue) }
}
