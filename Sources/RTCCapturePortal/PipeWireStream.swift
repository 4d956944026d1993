import CPipeWire
import Glibc
import RTCCapture
import RTCMedia
import RTCPrimitives
import Synchronization

/// A stream of pictures from PipeWire, used by one thread.
final class PipeWireStream {
  enum Event {
    /// The stream runs, or pauses.
    case isStreaming(Bool)
    case format(PixelSize, PixelFormat)
    /// Buffers can be taken.
    case ready
    /// The stream is over; the text is PipeWire's, perhaps empty.
    case ended(String)
  }

  private let raw: OpaquePointer
  private typealias Listener = CListener<PipeWireStream, cpipewire_listener>
  private let listener: Listener
  private var events: [Event] = []
  private var buffers: [UnsafeMutableRawPointer: StreamBuffer] = [:]
  /// Memory for the largest image of a pointer.
  private let imagePixels = UnsafeMutablePointer<UInt32>.allocate(
    capacity: Int(cpipewire_most_cursor_side * cpipewire_most_cursor_side))

  /// - Parameters:
  ///   - descriptor: a connection to PipeWire, which is closed in the end; nil: that of the session.
  ///   - rate: pictures a second, at most.
  init(descriptor: Int32?, node: UInt32, rate: Double) throws(CaptureError) {
    listener = Listener(
      cpipewire_listener(
        owner: nil,
        state: { owner, state, text in
          let stream = Listener.owner(owner)
          switch state {
          case cpipewire_streaming: stream.events.append(.isStreaming(true))
          case cpipewire_paused: stream.events.append(.isStreaming(false))
          case cpipewire_ended: stream.events.append(.ended(text.map { String(cString: $0) } ?? ""))
          default: break
          }
        },
        format: { owner, width, height, order in
          let size = PixelSize(width: Int(width), height: Int(height))
          Listener.owner(owner).events.append(.format(size, order == Int32(cpipewire_rgbx) ? .rgba : .bgra))
        },
        added: { owner, buffer, descriptor, offset, size in
          guard let buffer else { return }
          Listener.owner(owner).buffers[buffer] = StreamBuffer(
            buffer, descriptor: descriptor, offset: Int(offset), count: Int(size))
        },
        removed: { owner, buffer in
          guard let buffer else { return }
          Listener.owner(owner).buffers.removeValue(forKey: buffer)?.isRemoved = true
        },
        ready: { owner in Listener.owner(owner).events.append(.ready) }))
    let wanted = UInt32(min(1000, max(1, rate.rounded(.up))))
    guard let raw = cpipewire_open(descriptor ?? -1, node, wanted, listener.callbacks) else {
      let reason = cpipewire_missing().map { String(cString: $0) } ?? String(cString: strerror(errno))
      imagePixels.deallocate()
      throw .unavailable(
        "PipeWire, which passes the pictures of the screen on, cannot be used: \(reason). Install and start pipewire and "
          + "wireplumber.")
    }
    self.raw = raw
    // No callback has come yet: they come within `process`.
    listener.setOwner(self, at: \.owner)
  }

  deinit {
    cpipewire_close(raw)
    imagePixels.deallocate()
  }

  /// Why PipeWire cannot be used; nil: it can.
  static var missing: String? { cpipewire_missing().map { String(cString: $0) } }

  /// The version of the library; nil without it.
  static var version: String? { cpipewire_version().map { String(cString: $0) } }

  var descriptor: Int32 { cpipewire_descriptor(raw) }

  /// How many buffers the stream has.
  var bufferCount: Int { buffers.count }

  /// The events that have come, read without waiting.
  func process() -> [Event] {
    cpipewire_iterate(raw)
    defer { events.removeAll() }
    return events
  }

  /// The next filled buffer; nil when there is none. A buffer in memory that cannot be read is given back at once.
  func take() -> (buffer: StreamBuffer, content: cpipewire_picture)? {
    var content = cpipewire_picture()
    while let taken = cpipewire_take(raw, &content) {
      if let buffer = buffers[taken] { return (buffer, content) }
      cpipewire_give(raw, taken)
    }
    return nil
  }

  /// Gives a taken buffer back, to be filled again.
  func give(_ buffer: StreamBuffer) { if !buffer.isRemoved { cpipewire_give(raw, buffer.raw) } }

  /// The new image of the pointer that comes with a buffer; nil if there is none.
  func cursorImage(of buffer: StreamBuffer) -> CursorImage? {
    var image = cpipewire_cursor_image()
    image.pixels = imagePixels
    guard !buffer.isRemoved, cpipewire_cursor_image(buffer.raw, &image) else { return nil }
    let size = PixelSize(width: Int(image.width), height: Int(image.height))
    let count = size.width * size.height
    guard count > 0 else { return CursorImage(size: PixelSize(width: 1, height: 1), hotX: 0, hotY: 0, pixels: [0]) }
    let pixels = Array(UnsafeBufferPointer(start: imagePixels, count: count))
    let (hotX, hotY) = (Int(image.hot_x), Int(image.hot_y))
    return CursorImage(
      size: size, hotX: min(max(hotX, 0), size.width), hotY: min(max(hotY, 0), size.height), pixels: pixels)
  }
}

/// A buffer of the stream, in memory that is shared with the program that fills it.
final class StreamBuffer {
  let raw: UnsafeMutableRawPointer
  private let memory: Mapping
  /// PipeWire has taken it back; its memory stays while it is leased.
  var isRemoved = false

  /// The mapped memory, which its owner and the leases keep.
  private final class Mapping: Sendable {
    let address: UInt
    let count: Int
    /// Where the buffer begins in it.
    let offset: Int
    let leases = Atomic(0)

    init(address: UInt, count: Int, offset: Int) { (self.address, self.count, self.offset) = (address, count, offset) }

    deinit { munmap(UnsafeMutableRawPointer(bitPattern: address), count) }
  }

  /// Nil if the memory is shorter than it is said to be, or cannot be mapped.
  init?(_ raw: UnsafeMutableRawPointer, descriptor: Int32, offset: Int, count: Int) {
    var status = stat()
    guard count > 0, fstat(descriptor, &status) == 0, Int(status.st_size) >= offset + count else { return nil }
    let pageStart = offset / 4096 * 4096
    let length = offset - pageStart + count
    guard let address = mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, pageStart), Int(bitPattern: address) != -1
    else { return nil }
    self.raw = raw
    memory = Mapping(address: UInt(bitPattern: address), count: length, offset: offset - pageStart)
  }

  /// The number of bytes.
  private var byteCount: Int { memory.count - memory.offset }

  /// Whether there is a reader.
  var isLeased: Bool { memory.leases.load(ordering: .acquiring) > 0 }

  /// The place of a picture in the buffer; nil if the numbers do not fit the buffer.
  func picture(
    size: PixelSize, format: PixelFormat, content: cpipewire_picture, orientation: PixelOrientation
  ) -> PackedPicture? {
    let (offset, stride) = (Int(content.offset), Int(content.stride))
    guard stride >= size.width * 4, stride % 4 == 0, offset % 4 == 0, offset < byteCount else { return nil }
    let (rows, isOverflow) = stride.multipliedReportingOverflow(by: size.height - 1)
    guard !isOverflow, rows <= byteCount - offset, size.width * 4 <= byteCount - offset - rows else { return nil }
    let base = UnsafeRawPointer(bitPattern: memory.address)! + memory.offset + offset
    return PackedPicture(base: base, stride: stride, size: size, format: format, orientation: orientation)
  }

  /// A part of a picture of this buffer, unchanging until the lease ends: the program does not fill a buffer that it was not
  /// given back.
  func lease(
    _ rect: PixelRect, of picture: PackedPicture, onRelease: @escaping @Sendable () -> Void
  ) -> PixelBuffer? {
    guard !rect.isEmpty, rect.intersection(PixelRect(picture.size)) == rect else { return nil }
    memory.leases.wrappingAdd(1, ordering: .relaxed)
    let start = picture.base + rect.y * picture.stride + rect.x * 4
    return PixelBuffer(
      format: picture.format, size: PixelSize(width: rect.width, height: rect.height),
      planes: [(start, picture.stride)]
    ) { [memory] in
      memory.leases.wrappingSubtract(1, ordering: .releasing)
      onRelease()
    }
  }
}
