import ArgumentParser
import Logging
import RTCCapture
import RTCCaptureX11
import RTCMedia
import Synchronization

/// The screen, or the part of it, for `rtcast screen` and `rtcast call`.
struct ScreenOptions: ParsableArguments {
  @Option(help: ArgumentHelp("X display. (default: $DISPLAY)", valueName: "name"))
  var display: String?

  @Option(
    help: ArgumentHelp(
      "Capture only this monitor, by its number (0 is the first) or name, as `rtcast list monitors` shows them.",
      valueName: "n|name"))
  var monitor: String?

  @Option(
    help: ArgumentHelp("Capture only this part of the screen.", valueName: "WxH+X+Y"),
    transform: { try ScreenRegion(parsing: $0) })
  var region: ScreenRegion?

  @Option(
    help: ArgumentHelp(
      "Capture only this window, even while it is covered, by its number or a part of its title.",
      valueName: "id|title"))
  var window: String?

  @Flag(name: .customLong("no-cursor"), help: "Show no pointer, in the picture and on the viewer page.")
  var hidesCursor = false

  /// Whether a part of the screen was asked for.
  var namesPart: Bool { monitor != nil || region != nil || window != nil }

  func validate() throws {
    let chosen = [monitor.map { _ in "--monitor" }, region.map { _ in "--region" }, window.map { _ in "--window" }]
      .compactMap(\.self)
    if chosen.count > 1 {
      throw ValidationError("\(chosen.joined(separator: " and ")) cannot be combined; give one of them.")
    }
    if window?.isEmpty == true { throw ValidationError("--window takes a window's number or a part of its title.") }
    if monitor?.isEmpty == true { throw ValidationError("--monitor takes a monitor's number or name.") }
  }

  /// Not started yet.
  func source(_ media: MediaOptions, _ logger: Logger) -> CastRunner.Source {
    source(X11Capturer(options: captureOptions, onNotice: { logger.warning("\($0)") }), media)
  }

  /// A source that may appear later, and go and come back. Not started yet.
  func waitingSource(_ media: MediaOptions, _ logger: Logger) throws(CastFailure) -> CastRunner.Source {
    let notices = Mutex<Set<String>>([])
    do throws(CaptureError) {
      let surroundings = try X11Surroundings(
        captureOptions, prepare: { DisplayKeys.refresh() },
        onNotice: { notice in
          // The display says the same each time that it appears.
          if notices.withLock({ $0.insert(notice).inserted }) { logger.warning("\(notice)") }
        })
      return source(WaitingCapturer(surroundings, hasCursor: !hidesCursor), media)
    } catch {
      throw CastFailure(error)
    }
  }

  private func source(_ capturer: any VideoCapturer, _ media: MediaOptions) -> CastRunner.Source {
    CastRunner.Source(
      media: MediaSource(video: capturer), name: target.name, frameRate: media.frameRate(otherwise: .screen),
      maximumSize: media.maximumSize)
  }

  private var captureOptions: X11CaptureOptions {
    X11CaptureOptions(display: display, target: target.0, cursor: !hidesCursor)
  }

  private var target: (X11CaptureOptions.Target, name: String) {
    if let monitor { return (.monitor(monitor), "monitor") }
    if let region { return (.region(region.rect), "region") }
    if let window { return (.window(window), "window") }
    return (.screen, "screen")
  }
}
