import CX11
import Glibc
package import RTCCapture
package import RTCMedia
import RTCNet

/// The X displays of this machine, one of which is captured when it is there.
///
/// A display that is named is the only one. Without a name, any display counts that lets this user in: those of this user are tried
/// first.
package final class X11Surroundings: CaptureSurroundings {
  /// The folder of the displays' sockets.
  package static let folder = "/tmp/.X11-unix"
  /// Displays that are looked for without a name have lower numbers.
  private static let mostDisplays = 64

  private let options: X11CaptureOptions
  private let onNotice: @Sendable (String) -> Void
  private let prepare: @Sendable () -> Void
  private let folder: String
  /// The displays to choose from; nil: any.
  private let name: Name?
  private let tries = Monitor(0)
  /// Reports new sockets in the folder.
  private let notifier: Int32

  /// The name of a display, taken apart.
  private struct Name {
    let text: String
    let number: Int
    /// The display is reached by a socket of this machine.
    let isLocal: Bool
  }

  /// - Parameters:
  ///   - options: without a display, DISPLAY names it.
  ///   - prepare: called before each connection, on the thread that connects.
  /// - Throws: `unavailable` if the name is not one of a display.
  package init(
    _ options: X11CaptureOptions, folder: String = X11Surroundings.folder,
    prepare: @escaping @Sendable () -> Void = {}, onNotice: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(CaptureError) {
    (self.options, self.folder, self.prepare, self.onNotice) = (options, folder, prepare, onNotice)
    let variable = getenv("DISPLAY").map { String(cString: $0) } ?? ""
    let text = options.display.flatMap { $0.isEmpty ? nil : $0 } ?? (variable.isEmpty ? nil : variable)
    name = try text.map { text throws(CaptureError) in try Self.name(text) }
    notifier = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
  }

  deinit { if notifier >= 0 { close(notifier) } }

  private static func name(_ text: String) throws(CaptureError) -> Name {
    var host: UnsafeMutablePointer<CChar>?
    var (number, screen): (Int32, Int32) = (0, 0)
    guard xcb_parse_display(text, &host, &number, &screen) != 0 else { throw X11Connection.noName(text) }
    defer { free(host) }
    let place = host.map { String(cString: $0) } ?? ""
    return Name(text: text, number: Int(number), isLocal: place.isEmpty || place == "unix")
  }

  // MARK: CaptureSurroundings

  package var descriptor: Int32? { notifier >= 0 ? notifier : nil }

  package func takeChanges() -> Bool {
    guard notifier >= 0 else { return false }
    var hasChanged = false
    withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { room in
      while read(notifier, room.baseAddress, room.count) > 0 { hasChanged = true }
    }
    return hasChanged
  }

  package func find() -> CaptureFinding {
    // The folder may be made later, or again. One that is watched already stays so.
    if notifier >= 0 {
      _ = inotify_add_watch(notifier, folder, UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR))
    }
    guard let name else { return findAny() }
    if name.isLocal, !accepts(name.number) {
      return .nothing("The X display \(name.text) does not run.\(others)")
    }
    return .capturer(capturer(of: name.text))
  }

  private func findAny() -> CaptureFinding {
    let found = displays
    guard !found.isEmpty else { return .nothing("No X display runs on this machine.") }
    let index = tries.withLock { count in
      defer { count &+= 1 }
      return count % found.count
    }
    return .capturer(capturer(of: ":\(found[index])"))
  }

  private func capturer(of display: String) -> X11Capturer {
    prepare()
    var options = options
    options.display = display
    return X11Capturer(options: options, onNotice: onNotice)
  }

  /// The displays that are there while another is waited for.
  private var others: String {
    let others = displays.prefix(4).map { ":\($0)" }
    return others.isEmpty ? "" : " These do: \(others.joined(separator: ", "))."
  }

  // MARK: Sockets

  /// The numbers of the displays with a socket, those of this user first.
  private var displays: [Int] {
    let owners = (0..<Self.mostDisplays).compactMap { number -> (number: Int, isOwn: Bool)? in
      var status = stat()
      guard stat("\(folder)/X\(number)", &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
      return (number, status.st_uid == geteuid())
    }
    let numbers = owners.filter(\.isOwn).map(\.number) + owners.filter { !$0.isOwn }.map(\.number)
    return numbers.filter { accepts($0) }
  }

  /// Whether a server accepts connections for the display: at the name that is not a file, or at the file.
  private func accepts(_ number: Int) -> Bool {
    let path = "\(folder)/X\(number)"
    return Self.connects("\0" + path) || Self.connects(path)
  }

  private static func connects(_ path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let socket = socket(AF_UNIX, kind, 0)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    // Without a closing zero, which would be a part of a name that is not a file.
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, length) }
    }
    // A server with a full queue is there.
    return status == 0 || errno == EAGAIN
  }
}
