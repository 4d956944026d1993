import ArgumentParser
import Logging
import RTCAudio
import RTCCapture
import RTCCaptureCamera
import RTCCaptureFile
import RTCCaptureX11
import RTCMedia
import RTCSignaling
import RTCast

struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Call a peer or join a room at a hub, or wait for calls.",
    discussion: """
      Sends the microphone, and a picture if one is asked for; shows and plays what comes. In the window, m mutes the \
      microphone, v the picture, f is full screen, q hangs up.

      Examples:
        rtcast call alice --server wss://hub.example
            call the peer alice: another rtcast, or a browser on the hub's page
        rtcast call room:standup --server wss://hub.example --screen
            join a room, showing this screen
        rtcast call --server wss://hub.example --name bob --answer auto
            wait for calls as bob and take them
        rtcast call alice --server wss://hub.example --camera
            with this machine's first camera

      Exit status: 0 hung up; 69 nobody there, busy, no answer, or hub down; 76 the far side broke the protocol; \
      77 rejected, or not let in.
      """)

  @Argument(
    help: ArgumentHelp("Whom: NAME, room:NAME or wss://host/NAME; nobody: wait for calls.", valueName: "who"),
    transform: { try HubTarget(parsing: $0) })
  var who: HubTarget?

  @Flag(help: "Show this screen.")
  var screen = false

  @Option(help: ArgumentHelp("Show this file, with its sound.", valueName: "path"))
  var file: String?

  @Option(
    defaultAsFlag: CameraChoice.first,
    help: ArgumentHelp(
      "Show a camera, by its path, its number or a part of its name; without one, the first there is.",
      valueName: "device"))
  var camera: String? = nil

  @Flag(help: "Show a test picture.")
  var test = false

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Pictures a second, 0.1 to 240. (default: 30)", valueName: "n"),
    transform: { try FrameRate(parsing: $0) })
  var fps: FrameRate?

  @Option(
    help: ArgumentHelp(
      "Sound to send: mic, desktop, file, none, or a device that `rtcast list` names. (default: mic, or the file's own)",
      valueName: "choice"),
    transform: { try AudioChoice(parsing: $0) })
  var audio: AudioChoice?

  @Option(help: "What becomes of calls that come while waiting for them.")
  var answer: AnswerChoice = .ask

  @Flag(
    name: .customLong("control"),
    help: ArgumentHelp(
      "Take commands on standard input, one JSON object a line: source, pause, resume, mute, unmute, say, accept, "
        + "reject, hangup."))
  var takesControl = false

  @OptionGroup var hub: HubOptions
  @OptionGroup var receive: ReceiveOptions

  func validate() throws {
    let chosen = [
      screen ? "--screen" : nil, file.map { _ in "--file" }, camera.map { _ in "--camera" }, test ? "--test" : nil,
    ].compactMap(\.self)
    try CameraChoice.check(camera)
    if chosen.count > 1 {
      throw ValidationError("\(chosen.joined(separator: " and ")) cannot be combined; show one of them.")
    }
  }

  func run() async throws {
    let logger = StandardErrorLog.logger(verbosity: receive.verbose)
    let plan: CallPlan
    do throws(CastFailure) { plan = try await self.plan(logger) } catch {
      CallOutput(isJSON: receive.json).failed(error)
      throw error.status.code
    }
    try await CallRunner(plan, logger: logger).run()
  }

  private func plan(_ logger: Logger) async throws(CastFailure) -> CallPlan {
    var plan = CallPlan(target: who.map { .place($0.place) } ?? .anybody, hub: try hub.hub(for: who))
    plan.name = hub.ownName
    plan.token = receive.token?.text
    if let preset = receive.preset { plan.configuration = CallConfiguration(preset) }
    if let fps { plan.configuration.frameRate = fps.value }
    plan.answer = who == nil ? answer : .reject
    plan.showsWindow = !hub.hidesWindow
    plan.record = receive.record
    plan.duration = receive.duration
    plan.isJSON = receive.json
    plan.takesControl = takesControl
    plan.media = try await media(logger)
    return plan
  }

  private func media(_ logger: Logger) async throws(CastFailure) -> MediaSource {
    var media = MediaSource(video: nil)
    if screen {
      media.video = X11Capturer(
        options: X11CaptureOptions(display: nil, target: .screen, cursor: true), onNotice: { logger.warning("\($0)") })
    } else if let camera {
      media.video = CameraCapturer(camera: CameraChoice.device(camera))
    } else if test {
      media.video = SyntheticCapturer(pattern: .clock, seed: 1)
    } else if let file {
      var options = FilePlayer.Options()
      options.playsSound = audio == nil || audio == .own
      do throws(CaptureError) { media = try FilePlayer.open(path: file, options: options).source } catch {
        throw CastFailure(error)
      }
    }
    let choice = audio ?? (file == nil ? .microphone : .own)
    media.audio = choice.source(own: media.audio, isCall: true, logger)
    return media
  }
}
