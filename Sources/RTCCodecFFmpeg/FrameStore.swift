package import CFFmpeg
package import RTCMedia
internal import Synchronization

/// Memory that libavcodec decodes into, for codecs that let it be chosen. It is used again when neither libavcodec nor
/// anybody who shows the picture needs it.
package final class FrameStore: Sendable {
  private let source: any DecoderMemory
  private let free = Mutex<[(address: UInt, size: Int)]>([])
  private static let kept = 4
  /// The number of bytes that SIMD code may read past the end of a plane.
  private static let margin = 128

  /// - Parameter source: where the memory comes from.
  package init(source: any DecoderMemory) { self.source = source }

  deinit { for block in free.withLock({ $0 }) { source.free(block.address, byteCount: block.size) } }

  /// Has the decoder take its memory from here, on any of its threads. `self` must outlive it.
  package func supply(_ context: UnsafeMutablePointer<AVCodecContext>) {
    cffmpeg_call_back_anywhere(context)
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    context.pointee.get_buffer2 = { context, frame, flags in
      guard let context, let frame, let store = context.pointee.opaque else { return cffmpeg_error(EINVAL) }
      let isFilled = Unmanaged<FrameStore>.fromOpaque(store).takeUnretainedValue().fill(frame, of: context)
      return isFilled ?? avcodec_default_get_buffer2(context, frame, flags)
    }
  }

  /// Gives a frame planes of one block; nil for formats that are converted anyway.
  private func fill(
    _ frame: UnsafeMutablePointer<AVFrame>, of context: UnsafeMutablePointer<AVCodecContext>
  ) -> Int32? {
    let format = AVPixelFormat(rawValue: frame.pointee.format)
    guard let shared = SourceFormat(format).shared, shared == .i420 || shared == .i444,
      format != AV_PIX_FMT_YUVA420P, format != AV_PIX_FMT_YUVA444P
    else { return nil }
    // Room for whole macroblocks, and what the codec reads beyond them.
    var (width, height) = (frame.pointee.width, frame.pointee.height)
    var alignments = [Int32](repeating: 0, count: Int(AV_NUM_DATA_POINTERS))
    avcodec_align_dimensions2(context, &width, &height, &alignments)
    let shift = shared == .i420 ? 1 : 0
    // Half of it is a multiple of 64 too.
    let stride = (Int(width) + 127) / 128 * 128
    let (rows, chromaStride) = (Int(height), stride >> shift)
    let chromaRows = (rows + shift) >> shift
    let offsets = [0, stride * rows + Self.margin, stride * rows + chromaStride * chromaRows + 2 * Self.margin]
    let size = offsets[2] + chromaStride * chromaRows + Self.margin
    guard let address = take(size) else { return cffmpeg_error(ENOMEM) }
    let base = UnsafeMutablePointer<UInt8>(bitPattern: address)!
    // Balanced when the last reference of libavcodec and of leases is gone.
    let block = Unmanaged.passRetained(FrameBlock(address: address, size: size, store: self)).toOpaque()
    let release: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = { block, _ in
      if let block { Unmanaged<FrameBlock>.fromOpaque(block).release() }
    }
    guard let reference = av_buffer_create(base, size, release, block, 0) else {
      Unmanaged<FrameBlock>.fromOpaque(block).release()
      return cffmpeg_error(ENOMEM)
    }
    frame.pointee.buf.0 = reference
    frame.pointee.data.0 = base + offsets[0]
    frame.pointee.data.1 = base + offsets[1]
    frame.pointee.data.2 = base + offsets[2]
    frame.pointee.linesize.0 = Int32(stride)
    frame.pointee.linesize.1 = Int32(chromaStride)
    frame.pointee.linesize.2 = Int32(chromaStride)
    frame.pointee.extended_data = withUnsafeMutablePointer(to: &frame.pointee.data) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self)
    }
    return 0
  }

  private func take(_ size: Int) -> UInt? {
    let kept = free.withLock { free -> UInt? in
      guard let index = free.lastIndex(where: { $0.size == size }) else { return nil }
      return free.remove(at: index).address
    }
    return kept ?? source.allocate(byteCount: size)
  }

  fileprivate func give(_ address: UInt, _ size: Int) {
    let surplus = free.withLock { free -> (address: UInt, size: Int)? in
      // Pictures of another size are over.
      if let other = free.firstIndex(where: { $0.size != size }) {
        defer { free[other] = (address, size) }
        return free[other]
      }
      guard free.count < Self.kept else { return (address, size) }
      free.append((address, size))
      return nil
    }
    if let surplus { source.free(surplus.address, byteCount: surplus.size) }
  }
}

/// The memory of one frame: goes back to its store with the last reference.
private final class FrameBlock: Sendable {
  private let address: UInt
  private let size: Int
  private let store: FrameStore

  init(address: UInt, size: Int, store: FrameStore) {
    self.address = address
    self.size = size
    self.store = store
  }

  deinit { store.give(address, size) }
}
