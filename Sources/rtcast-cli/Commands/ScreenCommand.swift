import ArgumentParser
import Logging
import RTCMedia

struct ScreenCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "screen",
    abstract: "Cast the screen, a part of it, or a window.",
    discussion: """
      Prints a link that shows the screen in any browser on this machine; --listen lets other machines in. Nothing is \
      captured, encoded or sent while nothing on the screen changes, so a high --fps costs only while something moves. No \
      audio is sent unless --audio asks for it.

      A Wayland desktop is captured by ext-image-copy-capture or wlr-screencopy where the compositor has one (sway, labwc, \
      Hyprland, river, cage); else by the desktop's portal, whose dialog asks what to share. --wayland-backend mutter \
      captures GNOME without a dialog. Windows of X programs can be cast everywhere (--window). `rtcast list` shows monitors \
      and windows, and `rtcast doctor` what works.

      Examples:
        rtcast screen
        rtcast screen --monitor 1 --fps 30 --content-hint motion
        rtcast screen --window Terminal
        rtcast screen --pick
        rtcast screen --region 800x600+100+50 --no-cursor
        rtcast screen --virtual 1280x720
        rtcast screen --listen 0.0.0.0:8080 --token-file ~/.rtcast-token
        rtcast screen --wait
            from before the login until after the logout, as in a service
        rtcast screen --to https://sfu.example/whip --token-file ~/.sfu-token
      """)

  @OptionGroup(title: "Screen") var screen: ScreenOptions

  @Flag(
    name: .customLong("wait"),
    help: ArgumentHelp(
      "Serve viewers at once, and cast the screen whenever it is there.",
      discussion: """
        The display, desktop, monitor or window may appear later, go, and come back, with another size too. Viewers stay connected, \
        and their pages say why the picture stands still. Without --display, DISPLAY and WAYLAND_DISPLAY, the user's Wayland desktop is \
        cast, or else any X display that lets this user in.
        """))
  var waits = false

  @Flag(
    name: .customLong("pick"),
    help:
      "Pick what to cast, and change it, on a page with pictures of all monitors and windows. Its link is for you alone."
  )
  var picks = false

  @OptionGroup var cast: CastOptions

  func validate() throws {
    guard picks else { return }
    if waits { throw ValidationError("--pick lets you choose among what is there now; leave out --wait.") }
    if screen.namesPart {
      throw ValidationError("--pick lets you choose on a page; leave out --monitor, --region, --window and --virtual.")
    }
    if case .hub? = cast.destination.to {
      throw ValidationError("--pick is for casts to viewers here and to services; leave it out with --to NAME.")
    }
  }

  func source(_ logger: Logger) throws(CastFailure) -> CastRunner.Source {
    if waits { return try screen.waitingSource(cast.media, logger) }
    guard let options = pickOptions else { return try screen.source(cast.media, logger) }
    var source = CastRunner.Source(
      media: MediaSource(video: BlankCapturer()), name: "nothing",
      frameRate: cast.media.frameRate(otherwise: .screen), maximumSize: cast.media.maximumSize)
    source.pick = options
    return source
  }
}
