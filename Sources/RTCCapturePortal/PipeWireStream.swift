import CPipeWire
import Glibc
import RTCCapture
import RTCMedia
import RTCPrimitives

/// A stream of pictures from PipeWire, used by one thread.
final class PipeWireStream {
  enum Event {
    /// The stream runs, or pauses.
    case isStreaming(Bool)
    case format(PixelSize, PixelFormat)
    /// Buffers can be taken.
    case ready
    /// The desktop took the node away; PipeWire is there.
    case nodeRemoved
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
  ///   - size: of a monitor that is made for this stream; nil: the pictures have a size of their own.
  init(descriptor: Int32?, node: UInt32, rate: Double, size: PixelSize?) throws(CaptureError) {
    listener = Listener(
      cpipewire_listener(
        owner: nil,
        state: { owner, state, text in
          let stream = Listener.owner(owner)
          switch state {
          case cpipewire_streaming: stream.events.append(.isStreaming(true))
          case cpipewire_paused: stream.events.append(.isStreaming(false))
          case cpipewire_node_removed: stream.events.append(.nodeRemoved)
          case cpipewire_ended: stream.events.append(.ended(text.map { String(cString: $0) } ?? ""))
          default: break
          }
        },
        format: { owner, width, height, order in
          let size = PixelSize(width: Int(width), height: Int(height))
          Listener.owner(owner).events.append(.format(size, order == Int32(cpipewire_rgbx) ? .rgba : .bgra))
        },
        added: { owner, buffer, memory in
          guard let buffer, let memory else { return }
          Listener.owner(owner).buffers[buffer] = StreamBuffer(buffer, memory.pointee)
        },
        removed: { owner, buffer in
          guard let buffer else { return }
          Listener.owner(owner).buffers.removeValue(forKey: buffer)?.isRemoved = true
        },
        ready: { owner in Listener.owner(owner).events.append(.ready) }))
    var wish = cpipewire_wish()
    wish.rate = UInt32(min(1000, max(1, rate.rounded(.up))))
    if let size { (wish.width, wish.height) = (UInt32(clamping: size.width), UInt32(clamping: size.height)) }
    guard let raw = cpipewire_open(descriptor ?? -1, node, &wish, listener.callbacks) else {
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

  /// Whether a filled buffer lay in memory that cannot be read.
  private(set) var hasUnreadable = false

  /// The next filled buffer; nil when there is none. A buffer in memory that cannot be read is given back at once.
  func take() -> (buffer: StreamBuffer, content: cpipewire_picture)? {
    var content = cpipewire_picture()
    while let taken = cpipewire_take(raw, &content) {
      if let buffer = buffers[taken] { return (buffer, content) }
      hasUnreadable = true
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
