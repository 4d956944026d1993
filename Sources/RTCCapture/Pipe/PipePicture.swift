import RTCMedia

/// One picture of a stream, filled by the capturer's thread while it is not leased.
final class PipePicture {
  let memory: PictureMemory
  private let layout: PipeLayout

  init(_ layout: PipeLayout) {
    self.layout = layout
    // The chroma of a stream without colour stays grey.
    memory = PictureMemory(format: layout.format, size: layout.size, filledWith: 128)
  }

  /// The stream's bytes go here when the layout is direct.
  func withBytes<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
    precondition(!memory.isLeased, "A picture that somebody looks at is not written.")
    return unsafe body(memory.bytes)
  }

  /// Makes the frame from the bytes read.
  /// - Parameter stream: the picture as it arrived; nil if it was read in place.
  func finish(from stream: PipeScratch?) {
    guard stream != nil || layout.isFullRange else { return }
    let conversion = SampleConversion(layout: layout)
    // Exclusive, as it is not leased; the span ends before a lease begins.
    var frame = unsafe MutableSpan<UInt8>(_unsafeBytes: memory.bytes)
    if let stream { stream.withSpan { conversion.convert($0, into: &frame) } }
    if layout.isFullRange { conversion.limitRange(of: &frame) }
  }
}

/// Memory for a picture as it lies in the stream, where that is not how a frame does.
@safe
final class PipeScratch {
  private let bytes: UnsafeMutableRawBufferPointer

  init(_ layout: PipeLayout) {
    unsafe bytes = .allocate(byteCount: layout.streamBytes, alignment: 64)
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { unsafe bytes.deallocate() }

  func withBytes<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R { unsafe body(bytes) }

  func withSpan(_ body: (Span<UInt8>) -> Void) {
    // No thread writes meanwhile: the capturer's thread is the only one.
    let span = unsafe Span<UInt8>(_unsafeBytes: UnsafeRawBufferPointer(bytes))
    body(span)
  }
}

/// The few pictures that go round between the stream and the consumer.
struct PipePool {
  let layout: PipeLayout
  private var pictures: [PipePicture] = []
  private let scratch: PipeScratch?

  init(_ layout: PipeLayout) {
    self.layout = layout
    scratch = layout.isDirect ? nil : PipeScratch(layout)
  }

  /// A picture without leases.
  mutating func free() -> PipePicture {
    if let free = pictures.first(where: { !$0.memory.isLeased }) { return free }
    let picture = PipePicture(layout)
    // A consumer that keeps many pictures gets fresh memory each time; the pool itself stays small.
    if pictures.count < 4 { pictures.append(picture) }
    return picture
  }

  /// Has `fill` write the stream's next bytes, from `start` on, to where they belong.
  func fill<R>(_ picture: PipePicture, _ fill: (UnsafeMutableRawBufferPointer) -> R) -> R {
    let count = layout.streamBytes
    if let scratch { return unsafe scratch.withBytes { unsafe fill($0) } }
    return unsafe picture.withBytes { unsafe fill(UnsafeMutableRawBufferPointer(rebasing: $0[..<count])) }
  }

  func finish(_ picture: PipePicture) { picture.finish(from: scratch) }
}
