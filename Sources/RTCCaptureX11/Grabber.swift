import CX11
import Glibc
import RTCCapture
import RTCMedia

/// Reads pixels of a source into picture memory.
struct Grabber {
  /// Rows that did not change cost less than one more request when they are fewer than this.
  private static let joinedRows = 16
  /// Copied pixels come in replies of at most so many bytes: a slow network is no server that does not answer.
  private static let copiedBytes = 512 << 10

  let connection: X11Connection
  let source: X11Source

  /// Brings `picture` up to date with the screen; false when the server could not (the drawable is gone or changed).
  func refresh(_ picture: ScreenPicture) -> Bool {
    let stale = picture.stale.clipped(to: PixelRect(source.size))
    guard !stale.isEmpty else { return true }
    let done: Bool
    if let segment = picture.segment, source.layout.isBGRA {
      done = refreshShared(stale, segment)
    } else {
      done = copy(stale.rects, into: picture)
    }
    if done { picture.stale.removeAll() }
    return done
  }

  /// Whole rows: a band of them lies in the segment exactly as in the picture, so the server writes into place.
  private func refreshShared(_ stale: DamageList, _ segment: UInt32) -> Bool {
    let cookies = stale.rowBands(joiningGapsUpTo: Self.joinedRows).map { band in
      xcb_shm_get_image(
        connection.raw, source.drawable, Int16(source.origin.x), Int16(source.origin.y + band.lowerBound),
        UInt16(source.size.width), UInt16(band.count), ~0, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), segment,
        UInt32(band.lowerBound * source.size.width * 4))
    }
    // Every answer is read, even after one failed.
    return cookies.reduce(true) { done, cookie in
      connection.reply(xcb_shm_get_image_reply(connection.raw, cookie, nil)) != nil && done
    }
  }

  private func copy(_ rects: [PixelRect], into picture: ScreenPicture) -> Bool {
    let strips = rects.flatMap { rect in
      let height = max(1, Self.copiedBytes / source.layout.rowBytes(width: rect.width))
      return stride(from: rect.y, to: rect.maxY, by: height).map { y in
        PixelRect(x: rect.x, y: y, width: rect.width, height: min(height, rect.maxY - y))
      }
    }
    let cookies = strips.map { rect in
      xcb_get_image(
        connection.raw, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), source.drawable, Int16(source.origin.x + rect.x),
        Int16(source.origin.y + rect.y), UInt16(rect.width), UInt16(rect.height), ~0)
    }
    // Every answer is read, even after one failed.
    return zip(strips, cookies).reduce(true) { done, strip in take(strip.1, strip.0, into: picture) && done }
  }

  private func take(_ cookie: xcb_get_image_cookie_t, _ rect: PixelRect, into picture: ScreenPicture) -> Bool {
    guard let reply = connection.reply(xcb_get_image_reply(connection.raw, cookie, nil)) else { return false }
    let rowBytes = source.layout.rowBytes(width: rect.width)
    guard let data = xcb_get_image_data(reply.pointer),
      Int(xcb_get_image_data_length(reply.pointer)) >= rowBytes * rect.height
    else { return false }
    for row in 0..<rect.height {
      source.layout.convert(data + row * rowBytes, to: picture.row(rect.y + row, from: rect.x), count: rect.width)
    }
    return true
  }
}
