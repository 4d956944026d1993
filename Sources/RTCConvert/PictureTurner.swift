import CYUV
package import RTCMedia

/// Turns pictures that are not upright, once for all who look: not every viewer does it itself.
package struct PictureTurner: Sendable {
  private let pool = PixelBufferPool()

  /// Makes a turner without memory, which is allocated for the first rotated picture.
  package init() {}

  /// The picture rotated for display; an upright one is returned unchanged.
  package func upright(_ frame: VideoFrame) -> VideoFrame {
    guard frame.rotation != .none, let buffer = turn(frame.buffer, frame.rotation) else { return frame }
    return VideoFrame(
      buffer: buffer, captureTime: frame.captureTime,
      damage: frame.damage?.map { $0.turned(frame.rotation, within: frame.size) }, colorSpace: frame.colorSpace,
      contentHint: frame.contentHint)
  }

  /// Nil when libyuv refuses.
  private func turn(_ buffer: PixelBuffer, _ rotation: VideoRotation) -> PixelBuffer? {
    var status: Int32 = 0
    /// For NV12, which becomes I420: the last plane, made together with the one before it.
    var last: [UInt8] = []
    let format: PixelFormat = buffer.format == .nv12 ? .i420 : buffer.format
    let turned = pool.buffer(format, buffer.size.turned(rotation)) { index, target, stride in
      if buffer.format == .nv12, index == 2 {
        for place in last.indices { target[place] = last[place] }
        return
      }
      let from = unsafe buffer.unsafePlane(index)
      let isInterleaved = buffer.format == .nv12 && index == 1
      if isInterleaved { last = [UInt8](repeating: 0, count: target.count) }
      let pixelBytes = buffer.format.planeCount == 1 ? 4 : isInterleaved ? 2 : 1
      let (width, rows) = unsafe (Int32(from.rowBytes / pixelBytes), Int32(from.rows))
      // The plane is valid while `buffer` is held. `target` and `last` have `stride` bytes for each row of the turned plane,
      // which has as many rows as this one has columns, or as many as it has where it only stands on its head.
      let source = unsafe from.base.assumingMemoryBound(to: UInt8.self)
      let result = unsafe target.withUnsafeMutableBufferPointer { bytes -> Int32 in
        let to = bytes.baseAddress!
        if isInterleaved {
          return unsafe last.withUnsafeMutableBufferPointer { second in
            unsafe SplitRotateUV(
              source, Int32(from.stride), to, Int32(stride), second.baseAddress!, Int32(stride), width, rows,
              rotation.mode)
          }
        }
        guard pixelBytes == 4 else {
          return unsafe RotatePlane(source, Int32(from.stride), to, Int32(stride), width, rows, rotation.mode)
        }
        return unsafe ARGBRotate(source, Int32(from.stride), to, Int32(stride), width, rows, rotation.mode)
      }
      if result != 0 { status = result }
    }
    return status == 0 ? turned : nil
  }
}

extension VideoRotation {
  fileprivate var mode: RotationMode {
    switch self {
    case .none: kRotate0
    case .clockwise90: kRotate90
    case .half: kRotate180
    case .clockwise270: kRotate270
    }
  }
}
