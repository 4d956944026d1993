import ArgumentParser
import Logging
import RTCCaptureX11
import RTCMedia

struct ScreenCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "screen",
    abstract: "Cast an X11 screen, a part of it, or a window.",
    discussion: """
      Nothing is captured, encoded or sent while nothing on the screen changes, so a high --fps costs only while things \
      move. Without --to, the link it prints shows the cast in any browser of this machine.

      Examples:
        rtcast screen
        rtcast screen --monitor 1 --fps 30 --content-hint motion
        rtcast screen --window Terminal
        rtcast screen --region 800x600+100+50 --no-cursor
        rtcast screen --listen 0.0.0.0:8080 --token s3cret
        rtcast screen --to https://sfu.example/whip --token s3cret

      `rtcast list` says what monitors and windows there are.
      """)

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Most pictures a second, 0.1 to 240. (default: 5)", valueName: "n"),
    transform: { try FrameRate(parsing: $0) })
  var fps: FrameRate?

  @Option(help: ArgumentHelp("X display. (default: $DISPLAY)", valueName: "name"))
  var display: String?

  @Option(help: ArgumentHelp("Only this monitor, by its number or name.", valueName: "n|name"))
  var monitor: String?

  @Option(
    help: ArgumentHelp("Only this part of the screen.", valueName: "WxH+X+Y"),
    transform: { try ScreenRegion(parsing: $0) })
  var region: ScreenRegion?

  @Option(
    help: ArgumentHelp(
      "Only this window, whole even when covered, by its number or a part of its title.",
      valueName: "id|title"))
  var window: String?

  @Flag(name: .customLong("no-cursor"), help: "Leave the pointer out of the picture.")
  var hidesCursor = false

  @Option(
    help: ArgumentHelp("Largest picture to send; larger ones are scaled down to fit.", valueName: "WxH"),
    transform: { try PictureSize(parsing: $0) })
  var size: PictureSize?

  @OptionGroup var cast: CastOptions

  func validate() throws {
    let chosen = [monitor.map { _ in "--monitor" }, region.map { _ in "--region" }, window.map { _ in "--window" }]
      .compactMap(\.self)
    if chosen.count > 1 {
      throw ValidationError("\(chosen.joined(separator: " and ")) cannot be combined; give one of them.")
    }
    if window?.isEmpty == true { throw ValidationError("--window wants a window's number or a part of its title.") }
    if monitor?.isEmpty == true { throw ValidationError("--monitor wants a monitor's number or name.") }
  }

  func source(_ logger: Logger) -> CastRunner.Source {
    let (target, name) = target
    let capturer = X11Capturer(
      options: X11CaptureOptions(display: display, target: target, cursor: !hidesCursor),
      onNotice: { logger.warning("\($0)") })
    return CastRunner.Source(
      media: MediaSource(video: capturer), name: name, frameRate: cast.frameRate(fps, otherwise: .screen),
      maximumSize: cast.largestPicture(size))
  }

  private var target: (X11CaptureOptions.Target, name: String) {
    if let monitor { return (.monitor(monitor), "monitor") }
    if let region { return (.region(region.rect), "region") }
    if let window { return (.window(window), "window") }
    return (.screen, "screen")
  }
}
