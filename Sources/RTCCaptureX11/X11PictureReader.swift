import CX11
import RTCCapture
public import RTCMedia
import RTCNet

/// Reads single pictures of monitors and windows, such as small pictures to choose from. Used by one thread at a time.
///
/// Windows that are read are drawn off-screen by the server, so that they are whole while covered, until `rest` is called. A
/// window that was covered shows its hidden parts once it has drawn them again.
public final class X11PictureReader {
  /// The name of the display; nil means the value of DISPLAY.
  public let display: String?
  private var connection: X11Connection?
  private var windows: [String: WindowPixmap] = [:]
  private var memory: ScreenPicture?

  /// More windows are not drawn off-screen at a time.
  private static let mostWindows = 64

  /// - Parameter display: the name of the display; nil means the value of DISPLAY.
  public init(display: String? = nil) { self.display = display }

  /// The picture of `target` as it looks now, without the pointer. Its memory stays as it is until the frame is released.
  /// - Returns: nil if the window is minimised, or changed its size while it was read.
  public func picture(of target: X11CaptureOptions.Target) throws(CaptureError) -> VideoFrame? {
    let connection = try connected()
    do throws(CaptureError) {
      guard let source = try source(of: target, connection) else { return nil }
      let picture = picture(of: source, connection)
      picture.stale = DamageList([PixelRect(source.size)])
      guard Grabber(connection: connection, source: source).refresh(picture) else {
        if connection.isBroken { rest() }
        return nil
      }
      return VideoFrame(buffer: picture.memory.lease(), captureTime: MonotonicClock.now(), colorSpace: .sRGB)
    } catch {
      if case .window(let name) = target { windows[name] = nil }
      if connection.isBroken { rest() }
      throw error
    }
  }

  /// Closes the connection to the X server. The next picture opens another.
  public func rest() {
    windows = [:]
    memory = nil
    connection = nil
  }

  private func connected() throws(CaptureError) -> X11Connection {
    if let connection, !connection.isBroken {
      // Nothing here follows events, and they must not pile up.
      while connection.nextEvent() != nil {}
      return connection
    }
    rest()
    let new = try X11Connection(try X11Connection.displayName(display), try AnswerWatch(.giveUp))
    connection = new
    return new
  }

  private func source(
    of target: X11CaptureOptions.Target, _ connection: X11Connection
  ) throws(CaptureError) -> X11Source? {
    guard case .window(let name) = target else { return try X11Source.onScreen(target, connection) }
    if windows[name] == nil, windows.count >= Self.mostWindows { windows.removeAll() }
    // The pixmap may be that of a size, or of a time before the window was minimised, that is over.
    var pixmap: WindowPixmap
    if let known = windows[name] { pixmap = known.forgotten() } else { pixmap = try WindowPixmap(name, connection) }
    let source = try pixmap.source()
    windows[name] = pixmap
    return source
  }

  private func picture(of source: X11Source, _ connection: X11Connection) -> ScreenPicture {
    if let memory, memory.size == source.size, !memory.memory.isLeased { return memory }
    memory?.detach(from: connection)
    var new: ScreenPicture?
    if connection.extensions.shm != nil, source.layout.isBGRA {
      new = ScreenPicture(size: source.size, sharedOver: connection)
    }
    let found = new ?? ScreenPicture(size: source.size)
    memory = found
    return found
  }
}
