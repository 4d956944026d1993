import CX11
import RTCMedia

/// How the server lays out the pixels of a drawable.
struct PixelLayout: Hashable {
  var bytesPerPixel: Int
  var red: UInt32
  var green: UInt32
  var blue: UInt32
  /// Rows of an image sent by the server end at a multiple of this many bytes.
  var rowAlignment: Int

  /// The bytes are B, G, R, X already.
  var isBGRA: Bool {
    bytesPerPixel == 4 && red == 0xff0000 && green == 0x00ff00 && blue == 0x0000ff
  }

  func rowBytes(width: Int) -> Int { (width * bytesPerPixel + rowAlignment - 1) / rowAlignment * rowAlignment }

  /// The layout of drawables with `visual` and `depth`; refused with a sentence when it cannot be turned into BGRA.
  init(visual: xcb_visualid_t, depth: UInt8, on connection: X11Connection) throws(CaptureError) {
    let setup = xcb_get_setup(connection.raw)!
    guard Int32(setup.pointee.image_byte_order) == Int32(XCB_IMAGE_ORDER_LSB_FIRST.rawValue) else {
      throw .unsupportedFormat(
        "The X display \(connection.displayName) sends pixels high byte first; that is not supported.")
    }
    guard let format = Self.format(depth, setup), let type = Self.visual(visual, connection.raw),
      [2, 4].contains(Int(format.bits_per_pixel) / 8),
      [XCB_VISUAL_CLASS_TRUE_COLOR, XCB_VISUAL_CLASS_DIRECT_COLOR].contains(where: { $0.rawValue == type._class })
    else {
      throw .unsupportedFormat(
        "The X display \(connection.displayName) shows \(depth) bits a pixel in a way that is not supported; "
          + "use a screen of depth 16, 24, 30 or 32.")
    }
    bytesPerPixel = Int(format.bits_per_pixel) / 8
    rowAlignment = max(1, Int(format.scanline_pad) / 8)
    (red, green, blue) = (type.red_mask, type.green_mask, type.blue_mask)
  }

  private static func format(_ depth: UInt8, _ setup: UnsafePointer<xcb_setup_t>) -> xcb_format_t? {
    let formats = UnsafeBufferPointer(
      start: xcb_setup_pixmap_formats(setup), count: Int(xcb_setup_pixmap_formats_length(setup)))
    return formats.first { $0.depth == depth }
  }

  private static func visual(_ id: xcb_visualid_t, _ raw: OpaquePointer) -> xcb_visualtype_t? {
    var screens = xcb_setup_roots_iterator(xcb_get_setup(raw))
    while screens.rem > 0 {
      var depths = xcb_screen_allowed_depths_iterator(screens.data)
      while depths.rem > 0 {
        let visuals = UnsafeBufferPointer(
          start: xcb_depth_visuals(depths.data), count: Int(xcb_depth_visuals_length(depths.data)))
        if let found = visuals.first(where: { $0.visual_id == id }) { return found }
        xcb_depth_next(&depths)
      }
      xcb_screen_next(&screens)
    }
    return nil
  }
}

extension PixelLayout {
  /// Turns one row of the server's pixels into BGRA.
  func convert(_ source: UnsafeRawPointer, to target: UnsafeMutablePointer<UInt32>, count: Int) {
    if isBGRA {
      target.update(from: source.assumingMemoryBound(to: UInt32.self), count: count)
    } else if bytesPerPixel == 4 {
      convertPixels(source.assumingMemoryBound(to: UInt32.self), to: target, count: count)
    } else {
      convertPixels(source.assumingMemoryBound(to: UInt16.self), to: target, count: count)
    }
  }

  private func convertPixels<Pixel: FixedWidthInteger>(
    _ source: UnsafePointer<Pixel>, to target: UnsafeMutablePointer<UInt32>, count: Int
  ) {
    let (red, green, blue) = (Channel(red), Channel(green), Channel(blue))
    for index in 0..<count {
      let pixel = UInt32(truncatingIfNeeded: source[index])
      target[index] = red.value(pixel) << 16 | green.value(pixel) << 8 | blue.value(pixel)
    }
  }

  private struct Channel {
    let shift: UInt32
    let maximum: UInt32

    init(_ mask: UInt32) {
      shift = UInt32(mask.trailingZeroBitCount)
      maximum = mask == 0 ? 1 : mask >> shift
    }

    /// Scaled to 0…255 so that the brightest stays the brightest.
    func value(_ pixel: UInt32) -> UInt32 { ((pixel >> shift & maximum) * 255 + maximum / 2) / maximum }
  }
}
