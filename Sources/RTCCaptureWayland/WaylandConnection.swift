import CLinux
import CWayland
import Glibc
import RTCMedia
import RTCNet
import RTCPrimitives

/// A connection to a Wayland compositor, used by one thread. A broken connection never ends the process: `isBroken` says
/// so.
final class WaylandConnection {
  /// A compositor that does not answer within this time hangs.
  static let answerLimit = TimeDelta.seconds(2)

  /// The name of the socket, as in WAYLAND_DISPLAY.
  let name: String
  /// Nil if the program at the other end of the socket cannot be asked for its name.
  let compositor: String?
  private let display: OpaquePointer
  private var registry: OpaquePointer?
  private(set) var memory: OpaquePointer?
  /// Nil if the compositor has no wlr-screencopy.
  private(set) var copyManager: OpaquePointer?
  /// Nil if the compositor has no ext-image-copy-capture.
  private var imageCopyManager: OpaquePointer?
  private var outputSourceManager: OpaquePointer?
  private var outputManager: OpaquePointer?
  /// In the compositor's order.
  private(set) var outputs: [WaylandOutput] = []
  /// Counts the changes of outputs.
  private(set) var outputChanges = 0
  /// The requests that the compositor is to confirm, and those that it has confirmed.
  private var asked = 0
  private var answered = 0

  /// - Parameter given: nil: the value of WAYLAND_DISPLAY.
  init(_ given: String?) throws(CaptureError) {
    let name = Self.socketName(given)
    guard cwayland_missing() == nil else {
      throw .unavailable(
        "Wayland screens cannot be captured, because libwayland-client cannot be loaded: "
          + "\(cwayland_missing().map { String(cString: $0) } ?? "unknown"). Install the package libwayland-client0.")
    }
    cwayland_silence()
    guard let display = wl_display_connect(name) else {
      let reason = String(cString: strerror(errno))
      throw .unavailable(
        "There is no Wayland compositor at “\(name)” (\(reason)). Start rtcast inside the desktop session, or set "
          + "WAYLAND_DISPLAY and XDG_RUNTIME_DIR as they are there.")
    }
    self.display = display
    self.name = name
    compositor = Self.program(behind: wl_display_get_fd(display))
    registry = wl_display_get_registry(display)
    let me = Unmanaged.passUnretained(self).toOpaque()
    wl_registry_add_listener(registry, WaylandListeners.registry, me)
  }

  deinit {
    for output in outputs { output.release() }
    if let copyManager { zwlr_screencopy_manager_v1_destroy(copyManager) }
    if let imageCopyManager { ext_image_copy_capture_manager_v1_destroy(imageCopyManager) }
    if let outputSourceManager { ext_output_image_capture_source_manager_v1_destroy(outputSourceManager) }
    if let outputManager { zxdg_output_manager_v1_destroy(outputManager) }
    if let memory { wl_shm_destroy(memory) }
    if let registry { wl_registry_destroy(registry) }
    wl_display_disconnect(display)
  }

  /// Connects for `body` alone, after the compositor has named its outputs. A compositor that hangs is given up.
  static func visit<Result>(
    _ name: String?, limit: TimeDelta = answerLimit, _ body: (WaylandConnection) throws(CaptureError) -> Result
  ) throws(CaptureError) -> Result {
    let connection = try WaylandConnection(name)
    let poller = try Self.poller(of: connection)
    let deadline = MonotonicClock.now() + limit
    try connection.greet {
      _ = poller.wait(until: deadline)
      return MonotonicClock.now() < deadline
    }
    return try body(connection)
  }

  private static func poller(of connection: WaylandConnection) throws(CaptureError) -> Poller {
    do throws(SystemError) {
      let poller = try Poller()
      try poller.add(connection.descriptor, token: 0)
      return poller
    } catch {
      throw .unavailable(error.description)
    }
  }

  /// Reads what the compositor has.
  /// - Parameter wait: waits for the connection; false: give up.
  func greet(_ wait: () -> Bool) throws(CaptureError) {
    // The first answer names the globals, the second describes the outputs.
    for _ in 0..<2 {
      ask()
      while !isAnswered {
        dispatch()
        if isBroken { throw .unavailable(goneSentence) }
        if isAnswered { break }
        guard wait() else { throw .unavailable(silenceSentence) }
      }
      describeOutputs()
    }
  }

  var descriptor: Int32 { wl_display_get_fd(display) }

  var isBroken: Bool { wl_display_get_error(display) != 0 }

  /// Sends what is to be sent, reads what has come, and calls the listeners. Does not wait.
  func dispatch() {
    while wl_display_prepare_read(display) != 0 {
      guard wl_display_dispatch_pending(display) >= 0 else { return }
    }
    wl_display_flush(display)
    wl_display_read_events(display)
    wl_display_dispatch_pending(display)
  }

  func flush() { wl_display_flush(display) }

  // MARK: Answers

  /// Asks the compositor to confirm that it has read everything up to here.
  func ask() {
    asked += 1
    let callback = wl_display_sync(display)
    wl_callback_add_listener(callback, WaylandListeners.callback, Unmanaged.passUnretained(self).toOpaque())
  }

  var isAnswered: Bool { answered == asked }

  func noteAnswer() { answered += 1 }

  // MARK: Globals

  func add(global name: UInt32, interface: String, version: UInt32) {
    switch interface {
    case "wl_shm" where memory == nil: memory = cwayland_bind_shm(registry, name)
    case "zwlr_screencopy_manager_v1" where copyManager == nil:
      copyManager = cwayland_bind_screencopy_manager(registry, name, version)
    case "ext_image_copy_capture_manager_v1" where imageCopyManager == nil:
      imageCopyManager = cwayland_bind_image_copy_manager(registry, name)
    case "ext_output_image_capture_source_manager_v1" where outputSourceManager == nil:
      outputSourceManager = cwayland_bind_output_source_manager(registry, name)
    case "zxdg_output_manager_v1" where outputManager == nil:
      outputManager = cwayland_bind_xdg_output_manager(registry, name, version)
    case "wl_output" where outputs.count < 64:
      guard let proxy = cwayland_bind_output(registry, name, version) else { return }
      outputs.append(WaylandOutput(proxy, globalName: name) { [unowned self] in outputChanges += 1 })
      describeOutputs()
    default: break
    }
  }

  func remove(global name: UInt32) {
    guard let index = outputs.firstIndex(where: { $0.globalName == name }) else { return }
    outputs.remove(at: index).release()
    outputChanges += 1
  }

  private func describeOutputs() {
    guard let outputManager else { return }
    for output in outputs { output.describe(by: outputManager) }
  }

  /// The objects that begin sessions of ext-image-copy-capture; nil if the compositor cannot copy monitors by it.
  private var imageManagers: ImageCopySession.Managers? {
    guard let imageCopyManager, let outputSourceManager else { return nil }
    return ImageCopySession.Managers(copies: imageCopyManager, outputs: outputSourceManager)
  }

  /// The version of ext-image-copy-capture; nil if the compositor cannot copy monitors by it.
  var imageCopyVersion: Int? {
    imageManagers.map { Int(ext_image_copy_capture_manager_v1_get_version($0.copies)) }
  }

  /// Copies of a monitor by the newest protocol that the compositor has; nil if it has none.
  func copies(of output: WaylandOutput, showsCursor: Bool) -> OutputCopy? {
    if let managers = imageManagers {
      return OutputCopy(output, self, ImageCopySession(managers, output, showsCursor: showsCursor))
    }
    return copyManager.map { OutputCopy(output, self, ScreencopyFrames($0, output, showsCursor: showsCursor)) }
  }

  static func version(of manager: OpaquePointer) -> Int { Int(zwlr_screencopy_manager_v1_get_version(manager)) }

  // MARK: Words

  /// The compositor in a sentence.
  var title: String { compositor.map { "The Wayland compositor \($0) (\(name))" } ?? "The Wayland compositor \(name)" }

  var silenceSentence: String { "\(title) does not answer; it accepts connections and does no more." }

  /// The reason why the connection is over.
  var goneSentence: String {
    guard wl_display_get_error(display) == EPROTO else { return "\(title) went away." }
    var interface: UnsafePointer<wl_interface>?
    let code = wl_display_get_protocol_error(display, &interface, nil)
    let object = interface.map { String(cString: $0.pointee.name) } ?? "an object"
    return "\(title) closed the connection because of a request that it does not accept (error \(code) of \(object))."
  }

  private static func socketName(_ given: String?) -> String {
    if let given, !given.isEmpty { return given }
    let name = getenv("WAYLAND_DISPLAY").map { String(cString: $0) } ?? ""
    return name.isEmpty ? "wayland-0" : name
  }

  /// The name of the program that opened the socket.
  private static func program(behind socket: Int32) -> String? {
    let process = cwayland_peer_process(socket)
    guard process > 0, let file = fopen("/proc/\(process)/comm", "re") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = fread(&bytes, 1, bytes.count, file)
    let word = bytes.prefix(count).prefix { $0 > 0x20 && $0 < 0x7f }
    return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
  }
}
