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
  private let folder: SocketFolder
  /// The displays to choose from; nil: any.
  private let name: Name?
  private let tries = Monitor(0)

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
    (self.options, self.prepare, self.onNotice) = (options, prepare, onNotice)
    self.folder = SocketFolder(folder)
    let variable = getenv("DISPLAY").map { String(cString: $0) } ?? ""
    let text = options.display.flatMap { $0.isEmpty ? nil : $0 } ?? (variable.isEmpty ? nil : variable)
    name = try text.map { text throws(CaptureError) in try Self.name(text) }
  }

  private static func name(_ text: String) throws(CaptureError) -> Name {
    var host: UnsafeMutablePointer<CChar>?
    var (number, screen): (Int32, Int32) = (0, 0)
    guard xcb_parse_display(text, &host, &number, &screen) != 0 else { throw X11Connection.noName(text) }
    defer { free(host) }
    let place = host.map { String(cString: $0) } ?? ""
    return Name(text: text, number: Int(number), isLocal: place.isEmpty || place == "unix")
  }

  // MARK: CaptureSurroundings

  package var descriptors: [Int32] { folder.descriptors }

  package func takeChanges() -> Bool { folder.takeChanges() }

  package func find() -> CaptureFinding {
    folder.watch()
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
    let owners = (0..<Self.mostDisplays).compactMap { number in
      folder.socket("X\(number)").map { (number: number, isOwn: $0.owner == geteuid()) }
    }
    let numbers = owners.filter(\.isOwn).map(\.number) + owners.filter { !$0.isOwn }.map(\.number)
    return numbers.filter { accepts($0) }
  }

  private func accepts(_ number: Int) -> Bool { folder.accepts("X\(number)", abstractly: true) }
}
