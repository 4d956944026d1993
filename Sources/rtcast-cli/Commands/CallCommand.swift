import ArgumentParser
import Logging
import RTCCapture
import RTCCaptureFile
import RTCMedia
import RTCSignaling
import RTCast

struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Call a peer or join a room at a hub, or wait for calls.",
    discussion: """
      Sends the microphone, and video if a source is given; shows and plays what it receives. `call NAME --screen` and \
      `screen --to NAME` show the screen in the same way and with the same options; `call` sends the microphone too.

      Keys in the window: m mutes the microphone, v pauses the video, f is full screen, q hangs up.

      Examples:
        rtcast call alice --server wss://hub.example
            call the peer alice: another rtcast, or a browser on the hub's page
        rtcast call room:standup --server wss://hub.example --screen
            join a room, showing this screen
        rtcast call alice --server wss://hub.example --window Terminal --fps 10
            show one window
        rtcast call --server wss://hub.example --name bob --answer auto
            wait for calls as bob and accept them
        rtcast call alice --server wss://hub.example --camera
            send this machine's first camera

      Exit status: 0 hung up; 69 nobody there, busy, no answer, or hub down; 76 protocol error of the remote peer or hub; \
      77 rejected, or not let in.
      """)

  @Argument(
    help: ArgumentHelp(
      "Whom to call: NAME, room:NAME or wss://HOST/NAME. Without it, wait for calls.", valueName: "who"),
    transform: { try HubTarget(parsing: $0) })
  var who: HubTarget?

  @OptionGroup(title: "Video source") var show: CallSourceOptions
  @OptionGroup(title: "What is sent") var media: MediaOptions
  @OptionGroup(title: "Hub") var connection: CallConnectionOptions
  @OptionGroup(title: "Network") var network: NetworkOptions
  @OptionGroup(title: "While it runs") var output: CallOutputOptions

  func validate() throws { try network.refuseMapping() }

  func run() async throws {
    let logger = StandardErrorLog.logger(verbosity: output.run.verbose)
    let plan: CallPlan
    do throws(CastFailure) { plan = try await self.plan(logger) } catch {
      CallOutput(isJSON: output.run.json).failed(error)
      throw error.status.code
    }
    try await CallRunner(plan, logger: logger).run()
  }

  private func plan(_ logger: Logger) async throws(CastFailure) -> CallPlan {
    var source = try await show.source(media, logger)
    let own = source?.media.audio
    source?.media.audio = nil
    let hub = try connection.hub.hub(for: who)
    var plan = CallPlan(
      target: who.map { .place($0.place) } ?? .anybody, hub: hub.address, connection.hub,
      token: try connection.token.secret(link: hub.token, preset: media.preset?.token), output.run)
    plan.configuration = media.callConfiguration(for: source)
    plan.network = network
    plan.answer = who == nil ? connection.answer : .reject
    plan.recording = output.recording
    plan.rateLog = output.rateLog.path
    plan.control = output.control
    plan.media = source?.media ?? MediaSource(video: nil)
    let choice = media.audio ?? (show.file == nil ? .microphone : .own)
    plan.media.audio = choice.source(own: own, isCall: true, logger)
    return plan
  }
}

/// The source of a call's video.
struct CallSourceOptions: ParsableArguments {
  @Flag(help: "Show this screen; also chosen by --monitor, --region, --window and --virtual.")
  var screen = false

  @OptionGroup var part: ScreenOptions

  @Option(
    defaultAsFlag: CameraChoice.first,
    help: ArgumentHelp(
      "Show a camera, by its path, its number or a part of its name; without a value, the first.",
      valueName: "device"))
  var camera: String? = nil

  @Option(help: ArgumentHelp("Show this file, and send its audio.", valueName: "path"))
  var file: String?

  @Flag(help: "Show a test picture.")
  var test = false

  private var showsScreen: Bool { screen || part.namesPart }

  func validate() throws {
    let chosen = [
      showsScreen ? (screen ? "--screen" : "a part of the screen") : nil, file.map { _ in "--file" },
      camera.map { _ in "--camera" }, test ? "--test" : nil,
    ].compactMap(\.self)
    try CameraChoice.check(camera)
    if chosen.count > 1 {
      throw ValidationError("\(chosen.joined(separator: " and ")) cannot be combined; show one of them.")
    }
    if !showsScreen, part.display != nil || part.hidesCursor || part.waylandBackend != nil {
      throw ValidationError("--display, --wayland-backend and --no-cursor need --screen.")
    }
  }

  /// Makes the source as the casting commands do; nil: no video.
  func source(_ media: MediaOptions, _ logger: Logger) async throws(CastFailure) -> CastRunner.Source? {
    if showsScreen { return try part.source(media, logger) }
    if let camera { return CameraChoice.source(camera, media) }
    if test { return TestCommand.source(.clock, seed: 1, media) }
    if let file { return try FileCommand.source(file, FilePlayer.Options(), media, logger) }
    return nil
  }
}

/// The hub of a call, and what to do with calls from there.
struct CallConnectionOptions: ParsableArguments {
  @OptionGroup var hub: HubOptions
  @OptionGroup var token: TokenOptions

  @Option(
    help:
      "How to handle incoming calls while waiting for them: accept (auto), ask at the terminal (ask), or decline (reject)."
  )
  var answer: AnswerChoice = .ask
}

/// `--answer`.
enum AnswerChoice: String, ExpressibleByArgument, CaseIterable {
  case auto, ask, reject
}

/// The output and control options of a call.
struct CallOutputOptions: ParsableArguments {
  @OptionGroup var recording: RecordOptions
  @OptionGroup var control: ControlOptions
  @OptionGroup var rateLog: RateLogOptions
  @OptionGroup var run: RunOptions
}
