import CX11
import Glibc

/// Proves that a segment of the server's is memory of ours: a mark that is written here comes back from the server.
struct SharingProof {
  /// The side of the picture that holds the mark, in pixels.
  private static let side = 4
  private static let colorBits: UInt32 = 0x00ff_ffff

  private let connection: X11Connection

  init(_ connection: X11Connection) { self.connection = connection }

  /// - Parameters:
  ///   - segment: the server may read it.
  ///   - address: of memory as large as a picture of 4 × 4; it is overwritten.
  func holds(for segment: UInt32, at address: UnsafeMutableRawPointer) -> Bool {
    let side = UInt16(Self.side)
    let (depth, format) = (connection.rootDepth, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue))
    let mark = (0..<Self.side * Self.side).map { _ in UInt32.random(in: 1...Self.colorBits) }
    for (index, pixel) in mark.enumerated() { address.storeBytes(of: pixel, toByteOffset: index * 4, as: UInt32.self) }
    let (pixmap, context) = (connection.newID(), connection.newID())
    xcb_create_pixmap(connection.raw, depth, pixmap, connection.root, side, side)
    xcb_create_gc(connection.raw, context, pixmap, 0, nil)
    defer {
      xcb_free_gc(connection.raw, context)
      xcb_free_pixmap(connection.raw, pixmap)
    }
    let put = xcb_shm_put_image_checked(
      connection.raw, pixmap, context, side, side, 0, 0, side, side, 0, 0, depth, format, 0, segment, 0)
    guard connection.isDone(put) else { return false }
    let get = xcb_get_image(connection.raw, format, pixmap, 0, 0, side, side, ~0)
    guard let reply = connection.reply(xcb_get_image_reply(connection.raw, get, nil)),
      let data = xcb_get_image_data(reply.pointer)
    else { return false }
    // Half as many of 16 bits.
    let count = min(mark.count, Int(xcb_get_image_data_length(reply.pointer)) / 4)
    let pixels = UnsafeRawBufferPointer(start: data, count: count * 4)
    return count > 0
      && mark.prefix(count).enumerated().allSatisfy { index, pixel in
        (pixels.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self) ^ pixel) & Self.colorBits == 0
      }
  }
}
