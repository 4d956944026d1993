import RTCMedia
import RTCSignaling
import RTCast

/// A call as a command wants it.
struct CallPlan: Sendable {
  enum Target: Sendable {
    case place(HubTarget.Place)
    /// Any caller.
    case anybody
  }

  var target: Target
  var hub: HubAddress
  /// Ours; nil: the hub chooses.
  var name: String?
  var token: String?
  /// The media to send, sound included; empty: nothing.
  var media = MediaSource(video: nil)
  var configuration = CallConfiguration()
  /// Servers of a preset are in `configuration`.
  var network = NetworkOptions()
  var answer = AnswerChoice.reject
  var showsWindow: Bool
  var recording: RecordOptions?
  /// The path of the rate log; nil: none.
  var rateLog: String?
  var duration: Double?
  var isJSON: Bool
  /// Where commands come from.
  var control: ControlOptions?

  init(target: Target, hub: HubAddress, _ options: HubOptions, token: Secret?, _ run: RunOptions) {
    self.target = target
    self.hub = hub
    name = options.ownName
    self.token = token?.text
    showsWindow = !options.hidesWindow
    duration = run.duration
    isJSON = run.json
  }
}
