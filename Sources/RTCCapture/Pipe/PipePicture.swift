import RTCMedia
import Synchronization

/// The memory of one picture: filled by the capturer's thread while nobody leases it.
///
/// `@unchecked Sendable`: the bytes are written only while `leased` is false, and only by the source's thread; readers
/// hold a lease.
@safe
final class PipePicture: @unchecked Sendable {
  private let layout: PipeLayout
  private let bytes: UnsafeMutableRawBufferPointer
  private let leased = Atomic(false)

  init(_ layout: PipeLayout) {
    self.layout = layout
    // The stream's picture may be smaller than the frame (no colour) but is not larger where it is read in place.
    unsafe bytes = .allocate(byteCount: layout.frameBytes, alignment: 64)
    // What a stream without colour leaves out is grey for good.
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 128)
  }

  deinit { unsafe bytes.deallocate() }

  var isLeased: Bool { leased.load(ordering: .acquiring) }

  /// The stream's bytes go here when the layout is direct.
  func withBytes<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
    precondition(!isLeased, "A picture that somebody looks at is not written.")
    return unsafe body(bytes)
  }

  /// Makes the frame out of what was read.
  /// - Parameter stream: the picture as it came; nil when it was read in place.
  func finish(from stream: PipeScratch?) {
    guard stream != nil || layout.isFullRange else { return }
    let conversion = SampleConversion(layout: layout)
    // Ours alone, as nobody leases it; the span ends before anybody does.
    var frame = unsafe MutableSpan<UInt8>(_unsafeBytes: bytes)
    if let stream { stream.withSpan { conversion.convert($0, into: &frame) } }
    if layout.isFullRange { conversion.limitRange(of: &frame) }
  }

  func lease() -> PixelBuffer {
    leased.store(true, ordering: .relaxed)
    var planes = unsafe [(base: UnsafeRawPointer, stride: Int)]()
    var offset = 0
    for index in 0..<layout.format.planeCount {
      let extent = layout.format.planeExtent(index, of: layout.size)
      unsafe planes.append((UnsafeRawPointer(bytes.baseAddress!) + offset, extent.rowBytes))
      offset += extent.rowBytes * extent.rows
    }
    // The release closure keeps this memory alive; planes and strides fit by construction.
    return unsafe PixelBuffer(format: layout.format, size: layout.size, planes: planes) { [self] in
      leased.store(false, ordering: .releasing)
    }!
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
    // Nobody writes while the capturer's thread, the only user, is in here.
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

  /// One that nobody looks at.
  mutating func free() -> PipePicture {
    if let free = pictures.first(where: { !$0.isLeased }) { return free }
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
