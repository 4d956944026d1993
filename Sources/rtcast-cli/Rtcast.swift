package import ArgumentParser

/// The program's commands and options.
package struct Rtcast: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "rtcast",
    abstract:
      "Cast a screen, a file or a program's own frames to any browser, sharp enough to read and cheap enough to forget.",
    discussion: """
      Examples:
        rtcast screen --fps 5
            cast this screen; open the link it prints
        rtcast screen --window Terminal --fps 10
            one window, whole even while covered
        rtcast screen --listen 0.0.0.0:8080 --token s3cret
            let viewers on other machines in
        rtcast screen --to https://sfu.example/whip --token s3cret
            publish to a WHIP service
        rtcast screen --to alice --server wss://hub.example
            call a peer at a hub and show it the screen
        rtcast call alice --server wss://hub.example
            a call: microphones and pictures both ways
        rtcast watch http://127.0.0.1:8080/
            somebody else's cast in a window
        rtcast screen --audio desktop --record talk.mkv
            with what this machine plays; keep a copy of what is sent
        rtcast file talk.mp4
            a file with its sound, as it is where browsers can take it
        rtcast camera --audio mic
            a camera, with the microphone
        rtcast plugin ./libwaves.so
            what a plugin draws and plays
        rtcast test --pattern clock --tone 440
            a moving test picture with a tone, no screen needed
        ffmpeg -i talk.mkv -f yuv4mpegpipe - | rtcast pipe
            what another program draws
        rtcast serve --tls
            a signaling hub with rooms and calls for everybody on this network
        rtcast list
            what there is to cast
        rtcast doctor
            what works on this machine, and what to install

      Exit status: 0 done or stopped by Ctrl-C; 64 wrong usage; 66 no such source; 69 display, port or \
      server unavailable; 70 our own fault; 73 the recording cannot be made; 76 the far side broke the protocol; \
      77 not permitted.
      """,
    version: ProgramVersion.text,
    subcommands: [
      ScreenCommand.self, FileCommand.self, PipeCommand.self, PluginCommand.self, CameraCommand.self, TestCommand.self,
      CallCommand.self, WatchCommand.self, ServeCommand.self,
      ListCommand.self,
      DoctorCommand.self, PluginHostCommand.self,
    ])

  package init() {}

  /// Does what the command line asks for, and ends the process.
  /// - Parameter commit: what this program was built from, as Git writes it; empty when nobody knows.
  package static func start(commit: String) async {
    ProgramVersion.tell(commit: commit)
    await main()
  }
}
