import RTCMedia

/// Samples of one colour component, line by line.
@unsafe
struct VPXPlane {
  let base: UnsafePointer<UInt8>
  let stride: Int

  init(base: UnsafePointer<UInt8>, stride: Int) {
    unsafe self.base = base
    unsafe self.stride = stride
  }

  /// Four samples, which lie within the plane.
  static func four(_ first: UnsafePointer<UInt8>) -> SIMD4<Int32> {
    SIMD4(truncatingIfNeeded: unsafe UnsafeRawPointer(first).loadUnaligned(as: SIMD4<UInt8>.self))
  }

  /// The three planes of what an encoder is to code; valid while the caller holds both.
  /// - Parameter picture: where the pixels are when `source` says no other place.
  static func planes(of source: EncodeJob.Source, _ picture: InputPicture) -> [VPXPlane] {
    switch source {
    case .inputPicture:
      return unsafe (0..<3).map { index in
        let plane = unsafe picture.unsafePlane(index)
        return unsafe VPXPlane(base: UnsafePointer(plane.base), stride: plane.stride)
      }
    case .frame(let frame):
      return unsafe (0..<3).map { index in
        let plane = unsafe frame.buffer.unsafePlane(index)
        return unsafe VPXPlane(base: plane.base.assumingMemoryBound(to: UInt8.self), stride: plane.stride)
      }
    }
  }
}
