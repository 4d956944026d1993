import CX11
import RTCMedia

/// Knows how the pointer looks and where it is, in a picture's coordinates.
struct CursorTracker {
  private let connection: X11Connection
  private var image: CursorImage?
  private var isImageOld = true
  /// Counts the pictures of the pointer.
  private(set) var imageNumber = 0
  /// The hot spot in the picture; nil when the pointer is on another screen.
  private var position: (x: Int, y: Int)?
  private var isMotionAwaited = false

  init(_ connection: X11Connection) {
    self.connection = connection
    xcb_xfixes_select_cursor_input(connection.raw, connection.root, 1)
  }

  mutating func noteImageChanged() { isImageOld = true }

  /// The server told of a motion: it need not tell again until `awaitMotion`. A mouse moves up to a thousand times
  /// a second.
  mutating func noteMotion() {
    guard isMotionAwaited else { return }
    isMotionAwaited = false
    rtc_x11_select_raw_motion(connection.raw, connection.root, 0)
  }

  mutating func awaitMotion() {
    guard !isMotionAwaited, connection.extensions.hasRawMotion else { return }
    isMotionAwaited = true
    rtc_x11_select_raw_motion(connection.raw, connection.root, 1)
  }

  /// Asks the server. Motion is awaited first, so that none falls between.
  mutating func refresh(in source: X11Source) {
    awaitMotion()
    if isImageOld { readImage() }
    let cookie = xcb_query_pointer(connection.raw, source.window)
    guard let reply = connection.reply(xcb_query_pointer_reply(connection.raw, cookie, nil)) else { return }
    let pointer = reply.pointer.pointee
    position =
      pointer.same_screen != 0
      ? (Int(pointer.win_x) - source.windowOrigin.x, Int(pointer.win_y) - source.windowOrigin.y) : nil
  }

  /// How it looks, as far as that is known.
  var look: (image: CursorImage, number: Int)? { image.map { ($0, imageNumber) } }

  /// The hot spot in the picture; nil when the pointer is on another screen.
  var hotSpot: CursorPosition? { position.map { CursorPosition(x: $0.x, y: $0.y) } }

  /// Where it is to be drawn: the picture's top left corner. Nil when there is nothing to draw.
  var drawing: (image: CursorImage, x: Int, y: Int)? {
    guard let image, let position, !image.isInvisible else { return nil }
    return (image, position.x - image.hotX, position.y - image.hotY)
  }

  private mutating func readImage() {
    let cookie = xcb_xfixes_get_cursor_image(connection.raw)
    guard let reply = connection.reply(xcb_xfixes_get_cursor_image_reply(connection.raw, cookie, nil)) else {
      if !connection.isBroken { take(DefaultPointer.image) }
      return
    }
    let head = reply.pointer.pointee
    let pixels = UnsafeBufferPointer(
      start: xcb_xfixes_get_cursor_image_cursor_image(reply.pointer), count: Int(head.width) * Int(head.height))
    take(
      CursorImage(
        size: PixelSize(width: Int(head.width), height: Int(head.height)), hotX: Int(head.xhot), hotY: Int(head.yhot),
        pixels: Array(pixels)))
  }

  private mutating func take(_ new: CursorImage) {
    isImageOld = false
    imageNumber += 1
    image = new
  }
}

/// The pointer's image where the server gives none, as for a pointer whose program is gone: an arrow to the upper left.
enum DefaultPointer {
  /// `#` is black, `.` is white, the rest is transparent.
  private static let rows = [
    ".           ", "..          ", ".#.         ", ".##.        ", ".###.       ", ".####.      ", ".#####.     ",
    ".######.    ", ".#######.   ", ".########.  ", ".#########. ", ".######.....", ".###.##.    ", ".##..##.    ",
    ".#.  .##.   ", "..   .##.   ", ".     .##.  ", "      .##.  ", "       ..   ",
  ]

  static let image = CursorImage(
    size: PixelSize(width: rows[0].count, height: rows.count), hotX: 0, hotY: 0,
    pixels: rows.flatMap { row in
      row.map { $0 == "#" ? 0xff00_0000 : $0 == "." ? 0xffff_ffff : 0 }
    })
}
