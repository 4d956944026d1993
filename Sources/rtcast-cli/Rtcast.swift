package import ArgumentParser
import Glibc
import RTCAudio
import RTCCaptureFile
import RTCIsolation
import RTCast

/// The program's commands and options.
package struct Rtcast: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "rtcast",
    abstract: "Cast a screen, a window, a file or a program's own pictures to any browser.",
    discussion: """
      Text stays readable, and a screen on which nothing changes costs next to nothing. A casting command serves viewers \
      by itself: open the link that it prints. With --to it sends elsewhere: to a WHIP service, a peer or a room. Ctrl-C \
      stops it.

      Examples:
        rtcast screen
            cast this screen; open the link it prints
        rtcast screen --fps 30
            up to 30 frames per second (a screen's default is 5)
        rtcast screen --window Terminal
            one window, even while it is covered
        rtcast screen --listen 0.0.0.0:8080 --tls
            let in viewers on other machines that have the link
        rtcast screen --to https://sfu.example/whip --token-file ~/.sfu-token
            publish to a WHIP service
        rtcast screen --to alice --server wss://hub.example
            call a peer at a hub and show it the screen
        rtcast call alice --server wss://hub.example
            call with the microphone; --screen, --camera or --file add video
        rtcast watch http://127.0.0.1:8080/
            watch somebody's cast in a window
        rtcast screen --audio desktop --record talk.mkv
            with the sound of this machine; keep a copy of what is sent
        rtcast file talk.mp4
            a file with its audio, encoded again only where needed
        rtcast run --record out.webm -- pytest
            a command on a display of its own
        rtcast camera --audio mic
            a camera with the microphone
        rtcast plugin ./libwaves.so
            video and audio of a plugin
        rtcast test --pattern clock --tone 440
            a test picture with a tone; no screen needed
        ffmpeg -i talk.mkv -f yuv4mpegpipe - | rtcast pipe
            uncompressed video that another program writes
        rtcast serve --tls
            run a hub with rooms and calls
        rtcast link --role call --expires 2h
            a link to that hub for one meeting
        rtcast ctl status
            ask a cast with --control unix:NAME how it goes; pause, source … and stop command it
        rtcast list
            show what can be cast
        rtcast doctor
            check what works on this machine; --ice checks ways through NATs and firewalls
        rtcast rtc-log cast.jsonl
            draw how the bitrate followed the network, from a cast with --rtc-log cast.jsonl

      Environment: DISPLAY the X display; WAYLAND_DISPLAY the Wayland desktop; RTCAST_TOKEN default for --token; RTCAST_SERVER default for --server; \
      RTCAST_ICE_SERVERS default for --ice-server, separated by blanks; RTCAST_TURN_SECRET default for --turn-secret; \
      RTCAST_CONTROL default for --socket of `rtcast ctl`; \
      RTCAST_PRESET_PATH and RTCAST_PLUGIN_PATH folders of presets and plugins, separated by colons; PULSE_SERVER the sound \
      server; PORT default port of `rtcast serve`; SSL_CERT_FILE certificates to trust in place of the system's; \
      XDG_STATE_HOME and XDG_CONFIG_HOME folders of kept files and of config.json; https_proxy and no_proxy for TURN by TCP and TLS.

      Exit status: 0 finished or stopped by Ctrl-C; 64 wrong usage; 65 a rate log that cannot be used or replays to other decisions; 66 no such source or file; 69 display, port, server or peer \
      unavailable; 70 internal error; 73 the recording cannot be created; 74 what `list` or `doctor` prints cannot be written; 76 protocol error of a remote peer or server; \
      77 not permitted.

      Shell completions: rtcast --generate-completion-script bash (or zsh, fish).
      """,
    version: ProgramVersion.text,
    subcommands: [PluginHostCommand.self, DecoderHostCommand.self, FileHostCommand.self],
    groupedSubcommands: [
      CommandGroup(
        name: "Casting",
        subcommands: [
          ScreenCommand.self, RunCommand.self, FileCommand.self, CameraCommand.self, PipeCommand.self,
          PluginCommand.self,
          TestCommand.self,
        ]),
      CommandGroup(
        name: "Calls and links",
        subcommands: [CallCommand.self, WatchCommand.self, ServeCommand.self, LinkCommand.self]),
      CommandGroup(
        name: "This machine",
        subcommands: [
          CtlCommand.self, ConfigCommand.self, ListCommand.self, DoctorCommand.self, RTCLogCommand.self,
        ]),
    ])

  package init() {}

  /// Decodes, or reads a file, for another rtcast, if this process was started for that; before it has any threads.
  /// - Returns: the exit status; nil where the command line asks for something else.
  package static func statusOfDecoderHost() -> Int32? {
    switch CommandLine.arguments.dropFirst().first {
    case DecoderHostCommand.name: DecoderHost.run(CodecRegistry.decoder, CodecRegistry.audioDecoder)
    case FileHostCommand.name: FileHost.run()
    default: nil
    }
  }

  /// Parses the command line, and confines this process to the needs of its command. Call it before the first thread
  /// starts, since Landlock confines the calling thread and its children. Ends the process if the command line is
  /// wrong.
  /// - Parameter commit: the commit of this build; empty if it is unknown.
  package static func confinedCommand(commit: String) -> any ParsableCommand {
    Terminal.prepare()
    ProgramVersion.tell(commit: commit)
    Journal.find()
    ServiceNotifier.find()
    if let sentence = unknownCommand(in: Array(CommandLine.arguments.dropFirst())) {
      Terminal.complain(sentence)
      exit(withError: ExitStatus.usage.code)
    }
    do {
      let words = Array(CommandLine.arguments.dropFirst())
      let command = try OverviewCommand.isMeant(by: words) ? OverviewCommand.parse([]) : configured(words)
      if let run = command as? RunCommand { RunStage.begin(run) }
      // The processes of a run have their environment already.
      PulseLibraryLog.leaveStandardError()
      ProgramSandbox.enter(for: command)
      return command
    } catch {
      exit(withError: error)
    }
  }

  /// Reads the words of a command line, without the program's name.
  package static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
    try parseAsRoot(ControlPlace.normalized(arguments))
  }

  /// Reads a command line with the options that configuration files state. If these do not fit, the file is at fault.
  private static func configured(_ arguments: [String]) throws -> any ParsableCommand {
    let options = ConfigurationFiles.current.options(for: arguments, hasSockets: ServiceNotifier.hasSockets) { name in
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    guard !options.isEmpty, let command = arguments.first else { return try parsed(arguments) }
    func read(with words: [String]) throws -> any ParsableCommand {
      try Self.parsed([command] + words + arguments.dropFirst())
    }
    do { return try read(with: options.flatMap(\.words)) } catch {
      let plain = try Self.parsed(arguments)
      // The command line asks for help, which has no options.
      guard plain is any ConfinedCommand else { return plain }
      let culprit = options.first { (try? read(with: $0.words)) == nil }
      let place = culprit.map { "\($0.origin): \($0.key) is refused" } ?? options.map(\.origin).joined(separator: "; ")
      throw ValidationError("In the configuration \(place): \(message(for: error))")
    }
  }

  /// Does what the command line asks for, and ends the process when it fails.
  @MainActor
  package static func run(_ command: sending any ParsableCommand) async {
    do {
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        var command = command
        try command.run()
      }
    } catch {
      exit(withError: error)
    }
  }
}

extension Rtcast {
  /// The commands by name, the hidden ones too.
  private static var commands: [String] {
    let grouped = configuration.groupedSubcommands.flatMap { $0.subcommands }
    // No key paths: the compiler cannot lower one through a metatype yet (Swift 6.3).
    return (configuration.subcommands + grouped).compactMap { $0.configuration.commandName }
  }

  /// The error for a command line whose first word is not a command. Checked before the options, which belong to a
  /// command.
  package static func unknownCommand(in arguments: [String]) -> String? {
    let commands = commands
    guard let word = arguments.first, !word.hasPrefix("-"), !(commands + ["help"]).contains(word) else { return nil }
    if let command = word.nearest(of: commands) {
      return "There is no command '\(word)'; is '\(command)' meant? `rtcast --help` lists the commands."
    }
    return "There is no command '\(word)'; `rtcast --help` lists the commands."
  }
}
