import RTCCaptureX11
import RTCMedia
import RTCSignaling
import Synchronization

/// The page on which the caster picks, as the server sees it: lists sources, and has the cast change to the one that is picked.
/// Any thread.
final class CastPicker: SourcePicker {
  /// The cast, as far as the page shows it.
  struct Cast: Sendable {
    /// The links for viewers, the best first.
    var links: [String]
    /// The place where the cast is sent to; nil: viewers come here.
    var destination: String?
    /// The number of viewers now.
    var viewers: @Sendable () async -> Int
    /// Takes the command that changes the source.
    var deliver: @Sendable (ControlRequest) -> Void
  }

  private let pictures: PickPictures
  private let options: PickOptions
  private let cast: Cast
  private let picked = Mutex<PickedSource?>(nil)

  init(_ pictures: PickPictures, _ options: PickOptions, _ cast: Cast) {
    self.pictures = pictures
    self.options = options
    self.cast = cast
  }

  /// Notes what is cast now.
  /// - Parameter words: the words of the command line that names it; nil: nothing, as the source that was picked has ended.
  func note(_ words: [String]?) {
    let source = words.flatMap { options.source(in: $0) }
    picked.withLock { $0 = source }
  }

  func state() async -> String {
    let viewers = await cast.viewers()
    var sources: [JSONValue] = []
    if case .success(let screens) = await pictures.screens() { sources = Self.sources(screens) }
    return JSONValue.object([
      ("sources", .array(sources)), ("picked", .optional(picked.withLock { $0 }?.id)),
      ("links", .array(cast.links.map { .string($0) })), ("to", .optional(cast.destination)),
      ("viewers", .count(viewers)),
    ]).text
  }

  func thumbnail(of id: String) async -> StillPicture? {
    guard let source = PickedSource(id: id) else { return nil }
    return await pictures.picture(of: source)
  }

  func pick(_ id: String) async -> String? {
    guard let source = PickedSource(id: id) else { return "There is no such source." }
    let refusal = await withCheckedContinuation { continuation in
      let answer = PickAnswer(continuation)
      cast.deliver(ControlRequest(.success(.source(options.words(for: source))), respond: { answer.give($0.refusal) }))
    }
    if refusal == nil { picked.withLock { $0 = source } }
    return refusal
  }

  /// Monitors first. The whole screen is offered besides if it has several.
  private static func sources(_ screens: X11Screens) -> [JSONValue] {
    var list: [JSONValue] = []
    if screens.screenRefusal == nil {
      if screens.monitors.count > 1 {
        list.append(
          entry(.screen, "screen", "All screens", PixelRect(screens.size), isShown: true))
      }
      list += screens.monitors.map { monitor in
        let isOnly = screens.monitors.count == 1
        return entry(
          isOnly ? .screen : .monitor(monitor.index), "monitor", isOnly ? "Whole screen" : monitor.name, monitor.rect,
          isShown: true)
      }
    }
    // A page of more windows than this is no help.
    list += screens.windows.filter { $0.rect.width > 1 && $0.rect.height > 1 }.prefix(200).map { window in
      entry(.window(window.id), "window", window.title.printable, window.rect, isShown: window.isMapped)
    }
    return list
  }

  private static func entry(
    _ source: PickedSource, _ kind: String, _ name: String, _ rect: PixelRect, isShown: Bool
  ) -> JSONValue {
    .object([
      ("id", .string(source.id)), ("kind", .string(kind)), ("name", .string(name)), ("width", .count(rect.width)),
      ("height", .count(rect.height)), ("shown", .bool(isShown)),
    ])
  }
}

/// The answer to a choice: given once, and also when the cast ends before it has answered.
private final class PickAnswer: Sendable {
  private let continuation: Mutex<CheckedContinuation<String?, Never>?>

  init(_ continuation: CheckedContinuation<String?, Never>) { self.continuation = Mutex(continuation) }

  deinit { give("The cast has ended.") }

  func give(_ refusal: String?) {
    let waiting = continuation.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    waiting?.resume(returning: refusal)
  }
}
