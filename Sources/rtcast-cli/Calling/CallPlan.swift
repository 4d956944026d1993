import RTCCaptureFile
import RTCMedia
import RTCSignaling
import RTCast

/// A call as a command wants it.
struct CallPlan: Sendable {
  enum Target: Sendable {
    case place(HubTarget.Place)
    /// Whoever calls.
    case anybody
  }

  var target: Target
  var hub: HubAddress
  /// Ours; nil: the hub chooses.
  var name: String?
  var token: String?
  /// What we send, sound included; empty: nothing.
  var media = MediaSource(video: nil)
  var configuration = CallConfiguration()
  var answer = AnswerChoice.reject
  var showsWindow = true
  var record: String?
  var duration: Double?
  var isJSON = false
  /// Commands come on standard input.
  var takesControl = false
}
