import ArgumentParser
import Logging
import RTCAudio
import RTCCaptureX11
import RTCMedia

struct RunCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a command on a display of its own, and cast or record it.",
    discussion: """
      Starts an X display that is on no monitor (Xvfb), a sound server that plays to nobody (PulseAudio, where it is \
      installed), a window manager if one is named, and COMMAND. Prints a link to the display. With --record, the display is \
      recorded and no link is printed, unless --serve or --listen asks for one. --size is the size of the display, \
      1920x1080 if it is not given.

      When COMMAND has ended, rtcast completes the recording, ends all processes that COMMAND has left, and exits with the \
      status of COMMAND: 128 and the signal's number if a signal ended it, 127 if there is no such program, 126 if it \
      cannot be started. Ctrl-C and SIGTERM go to COMMAND, which is killed if it does not end within 5 seconds. Standard \
      input and output are those of COMMAND: rtcast writes to standard error, except with --json.

      Examples:
        rtcast run -- xterm
        rtcast run --record out.webm -- pytest tests/browser
        rtcast run --record out.webm --serve --listen 0.0.0.0:8080 --tls -- npm test
        rtcast run --size 1280x720 --window-manager openbox --record out.mkv --segment 10m --keep 6 -- ./kiosk
      """)

  @OptionGroup(title: "Display") var stage: StageOptions
  @OptionGroup var cast: CastOptions

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The command to run, and its arguments, behind --.", valueName: "command"))
  var command: [String] = []

  /// The size of the display where none is given.
  private static let usualSize = PixelSize(width: 1920, height: 1080)

  func validate() throws {
    guard !command.isEmpty else {
      throw ValidationError("Name the command to run behind --, such as `rtcast run --record out.webm -- xterm`.")
    }
    guard command[0] != "" else { throw ValidationError("The command behind -- has no name.") }
    if cast.output.control.readsStandardInput {
      throw ValidationError(
        "Standard input is that of the command, so --control cannot read it; name a socket: --control unix:NAME.")
    }
    if stage.serves, cast.destination.to != nil {
      throw ValidationError("--to sends elsewhere and --serve serves viewers here; give one of them.")
    }
    if stage.windowManager?.allSatisfy(\.isWhitespace) == true {
      throw ValidationError("--window-manager takes a command, such as openbox.")
    }
  }

  /// Whether viewers are served here.
  private var servesViewers: Bool {
    cast.output.recording.record == nil || stage.serves || cast.viewers.listen != .loopback
      || cast.viewers.access.isGiven
  }

  /// Makes the folder of the run.
  func plan() throws(CastFailure) -> RunPlan {
    RunPlan(
      server: stage.displayServer, size: cast.media.size?.size ?? Self.usualSize,
      hasSound: cast.media.audio != .silence, windowManager: stage.windowManager, command: command,
      keepsOutput: cast.output.run.json, folder: try RunFolder())
  }

  func source(_ logger: Logger) throws(CastFailure) -> CastRunner.Source {
    guard let stage = try RunStage.current?.get() else {
      throw CastFailure(
        .usage, "'run' is not a source; name the display that it has started, as `screen --display :99`.")
    }
    let capturer = X11Capturer(
      options: X11CaptureOptions(display: stage.display, target: .screen, cursor: !self.stage.hidesCursor),
      onNotice: { logger.warning("\($0)") })
    if !stage.hasSound, stage.plan.hasSound {
      let advice = Distribution.advice(for: .pulseAudio)
      logger.warning("There is no sound: PulseAudio did not start. Install \(advice), or give --audio none.")
    }
    let sound = stage.hasSound ? PulseAudioSource(.desktop, onNotice: { logger.warning("\($0)") }) : nil
    return CastRunner.Source(
      media: MediaSource(video: capturer, audio: sound), name: "run",
      frameRate: cast.media.frameRate(otherwise: .screen),
      maximumSize: cast.media.preset?.size)
  }

  func run() async throws {
    let stage = try? RunStage.current?.get()
    let runner = CastRunner(cast, stage: stage, servesViewers: servesViewers)
    var failure: (any Error)?
    do { try await runner.run(self) } catch { failure = error }
    guard let stage else { throw failure ?? ExitStatus.software.code }
    // The cast is over, so nothing else needs this thread.
    let end = stage.end()
    // A cast that ended before the command did not report its end.
    if failure != nil, let end { CastOutput(cast, isFile: false).commandEnded(stage.status(after: end)) }
    stage.finish()
    if end == .unknown {
      Terminal.complain("The process that supervises the command was killed, and the command and its display with it.")
    } else if stage.hasLostDisplay {
      Terminal.complain("\(stage.plan.server.program), the server of the display, ended before the command.")
    }
    if let end { throw ExitCode(stage.status(after: end)) }
    if let failure { throw failure }
  }
}
