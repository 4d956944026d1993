import CX11
import Glibc
import RTCCapture
import RTCMedia
import Synchronization

/// The memory of one picture, BGRA without gaps: a segment shared with the X server, or plain memory.
///
/// `@unchecked Sendable`: everything but `leased` belongs to the capture thread, which writes only while `isLeased` is
/// false; readers hold a lease.
final class PictureMemory: @unchecked Sendable {
  let size: PixelSize
  let base: UnsafeMutablePointer<UInt32>
  /// The segment's name at the server; nil for plain memory.
  let segment: UInt32?
  /// What on the screen is newer than here.
  var stale: DamageList
  /// The pixels under the cursor drawn here.
  private var beneathCursor: (rect: PixelRect, pixels: [UInt32])?
  private let leased = Atomic(false)

  /// Plain memory.
  init(size: PixelSize) {
    self.size = size
    base = .allocate(capacity: size.width * size.height)
    base.initialize(repeating: 0, count: size.width * size.height)
    segment = nil
    stale = DamageList([PixelRect(size)])
  }

  /// A segment shared with the server; nil when this machine or the server refuses (a remote display).
  init?(size: PixelSize, sharedOver connection: X11Connection) {
    let bytes = size.width * size.height * 4
    let id = shmget(key_t(0), bytes, IPC_CREAT | 0o600)
    guard id >= 0, let address = shmat(id, nil, 0), Int(bitPattern: address) != -1 else {
      if id >= 0 { shmctl(id, IPC_RMID, nil) }
      return nil
    }
    let name = connection.newID()
    let failure = xcb_request_check(
      connection.raw, xcb_shm_attach_checked(connection.raw, name, UInt32(id), 0))
    // The memory lives on until both sides have let go, whatever becomes of this process.
    shmctl(id, IPC_RMID, nil)
    guard failure == nil, !connection.isBroken else {
      free(failure)
      shmdt(address)
      return nil
    }
    self.size = size
    base = address.bindMemory(to: UInt32.self, capacity: size.width * size.height)
    segment = name
    stale = DamageList([PixelRect(size)])
  }

  deinit {
    if segment != nil { shmdt(base) } else { base.deallocate() }
  }

  /// The server lets go of the segment; whoever leases it keeps it.
  func detach(from connection: X11Connection) {
    if let segment { xcb_shm_detach(connection.raw, segment) }
  }

  var isLeased: Bool { leased.load(ordering: .acquiring) }

  /// The picture as it is now, unchanging until the lease ends; then `onRelease` is called, on any thread.
  func lease(onRelease: @escaping @Sendable () -> Void) -> PixelBuffer {
    leased.store(true, ordering: .relaxed)
    return PixelBuffer(
      format: .bgra, size: size, planes: [(UnsafeRawPointer(base), size.width * 4)],
      release: { [self] in
        leased.store(false, ordering: .releasing)
        onRelease()
      })!
  }

  func row(_ y: Int, from x: Int) -> UnsafeMutablePointer<UInt32> { base + (y * size.width + x) }

  // MARK: Cursor

  func removeCursor() {
    guard let (rect, pixels) = beneathCursor else { return }
    beneathCursor = nil
    for y in 0..<rect.height {
      pixels.withUnsafeBufferPointer {
        row(rect.y + y, from: rect.x).update(from: $0.baseAddress! + y * rect.width, count: rect.width)
      }
    }
  }

  /// Draws `image` with its top left corner at `x`, `y`, the part inside the picture, and keeps what was there.
  func draw(_ image: CursorImage, x: Int, y: Int) {
    let rect = PixelRect(x: x, y: y, width: image.width, height: image.height).intersection(PixelRect(size))
    guard !rect.isEmpty else { return }
    var pixels: [UInt32] = []
    pixels.reserveCapacity(rect.area)
    for line in rect.y..<rect.maxY {
      let target = row(line, from: rect.x)
      pixels.append(contentsOf: UnsafeBufferPointer(start: target, count: rect.width))
      let source = (line - y) * image.width + rect.x - x
      for column in 0..<rect.width { target[column] = Self.blend(image.pixels[source + column], over: target[column]) }
    }
    beneathCursor = (rect, pixels)
  }

  /// `source` is 0xAARRGGBB with its colours multiplied by alpha already.
  private static func blend(_ source: UInt32, over target: UInt32) -> UInt32 {
    let rest = 255 - (source >> 24)
    if rest == 0 { return source }
    if rest == 255 { return target }
    func channel(_ shift: UInt32) -> UInt32 {
      min(255, (source >> shift & 255) + ((target >> shift & 255) * rest + 127) / 255) << shift
    }
    return channel(16) | channel(8) | channel(0)
  }
}
