import CLinux
import CX11
import Glibc
import RTCCapture
import RTCMedia

/// One picture of the screen, BGRA, in a segment shared with the X server or in plain memory. Used by the capture thread.
final class ScreenPicture {
  let memory: PictureMemory
  /// The server's number of the segment; nil for plain memory.
  let segment: UInt32?
  /// The parts of the screen that have changed since this picture was read.
  var stale: DamageList
  private var pointer = PointerDrawing()
  private let base: UnsafeMutablePointer<UInt32>

  private init(_ memory: PictureMemory, segment: UInt32?) {
    self.memory = memory
    self.segment = segment
    stale = DamageList([PixelRect(memory.size)])
    base = memory.bytes.baseAddress!.assumingMemoryBound(to: UInt32.self)
  }

  /// Creates a picture in plain memory.
  convenience init(size: PixelSize) { self.init(PictureMemory(format: .bgra, size: size), segment: nil) }

  /// Creates a picture in a segment shared with the server; nil when this machine or the server refuses (a remote
  /// display).
  convenience init?(size: PixelSize, sharedOver connection: X11Connection) {
    guard
      let (memory, segment) = Self.passedMemory(size, connection) ?? Self.namedMemory(size, connection)
    else { return nil }
    self.init(memory, segment: segment)
  }

  /// Memory that is passed to the server as a descriptor (MIT-SHM 1.2), so that both have the same memory, in whichever
  /// namespaces they are.
  private static func passedMemory(_ size: PixelSize, _ connection: X11Connection) -> (PictureMemory, UInt32)? {
    guard connection.passesDescriptors else { return nil }
    let bytes = PictureMemory.byteCount(.bgra, size)
    let descriptor = clinux_sealed_memory("rtcast-screen", bytes)
    guard descriptor >= 0 else { return nil }
    guard let address = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      Int(bitPattern: address) != -1
    else {
      close(descriptor)
      return nil
    }
    let name = connection.newID()
    // XCB closes the descriptor. A proxy between may have lost it, and the server refuses then.
    guard connection.isDone(xcb_shm_attach_fd_checked(connection.raw, name, descriptor, 0)) else {
      munmap(address, bytes)
      return nil
    }
    let memory = PictureMemory(
      format: .bgra, size: size, owning: UnsafeMutableRawBufferPointer(start: address, count: bytes)
    ) { munmap($0.baseAddress, $0.count) }
    return (memory, name)
  }

  /// Memory that the server finds by its number. A number holds in one IPC namespace: in another it may be the memory
  /// of another program. So the server has to show that it found this memory.
  private static func namedMemory(_ size: PixelSize, _ connection: X11Connection) -> (PictureMemory, UInt32)? {
    let bytes = PictureMemory.byteCount(.bgra, size)
    let id = shmget(key_t(0), bytes, IPC_CREAT | 0o600)
    guard id >= 0, let address = shmat(id, nil, 0), Int(bitPattern: address) != -1 else {
      if id >= 0 { shmctl(id, IPC_RMID, nil) }
      return nil
    }
    let name = connection.newID()
    // Read-only until it is known to be ours.
    let isAttached = connection.isDone(xcb_shm_attach_checked(connection.raw, name, UInt32(id), 1))
    let isOurs = isAttached && SharingProof(connection).holds(for: name, at: UnsafeMutableRawPointer(address))
    if isAttached { xcb_shm_detach(connection.raw, name) }
    let isShared = isOurs && connection.isDone(xcb_shm_attach_checked(connection.raw, name, UInt32(id), 0))
    // The memory lives on until both sides have let go, whatever becomes of this process.
    shmctl(id, IPC_RMID, nil)
    guard isShared else {
      shmdt(address)
      return nil
    }
    let memory = PictureMemory(
      format: .bgra, size: size, owning: UnsafeMutableRawBufferPointer(start: address, count: bytes)
    ) { shmdt($0.baseAddress) }
    return (memory, name)
  }

  var size: PixelSize { memory.size }

  /// Makes the server release the segment; consumers that lease it keep it.
  func detach(from connection: X11Connection) {
    if let segment { xcb_shm_detach(connection.raw, segment) }
  }

  func row(_ y: Int, from x: Int) -> UnsafeMutablePointer<UInt32> { base + (y * size.width + x) }

  // MARK: Cursor

  func removeCursor() { pointer.remove(from: base, of: size) }

  /// Draws `image` with its top left corner at `x`, `y`, the part inside the picture, and keeps what was there.
  func draw(_ image: CursorImage, x: Int, y: Int) { pointer.draw(image, x: x, y: y, into: base, of: size) }
}
