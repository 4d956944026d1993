import CLinux
import Glibc
import RTCConvert
import RTCMedia

/// A camera that delivers pictures into memory shared with its driver; stopped with the object.
final class CameraStream {
  let device: CameraDevice
  let size: PixelSize
  private let encoding: CameraMode.Encoding
  private let rowBytes: Int
  private let colorSpace: ColorSpace
  private var memories: [UnsafeMutableRawBufferPointer] = []

  init(_ device: CameraDevice, _ mode: CameraMode, rate: Double) throws(CaptureError) {
    self.device = device
    encoding = mode.encoding
    var layout = clinux_camera_layout()
    let status = clinux_camera_set(
      device.descriptor, mode.encoding.rawValue, UInt32(mode.size.width), UInt32(mode.size.height),
      mode.rate > 0 ? min(rate, mode.rate) : rate, &layout)
    size = PixelSize(width: Int(layout.width), height: Int(layout.height))
    rowBytes = Int(layout.row_bytes)
    colorSpace = mode.encoding.pixelFormat == .bgra ? .sRGB : layout.is_bt709 != 0 ? .bt709Limited : .bt601Limited
    try Self.check(status, device)
    let count = clinux_camera_request_buffers(device.descriptor, 4)
    try Self.check(min(0, count), device)
    for index in 0..<UInt32(max(0, count)) {
      var length = 0
      guard let memory = clinux_camera_map(device.descriptor, index, &length) else { break }
      memories.append(UnsafeMutableRawBufferPointer(start: memory, count: length))
      try Self.check(clinux_camera_queue(device.descriptor, index), device)
    }
    guard !memories.isEmpty else {
      throw .unavailable("The camera \(device.name) shares no memory to put pictures in.")
    }
    try Self.check(clinux_camera_run(device.descriptor, 1), device)
  }

  deinit {
    _ = clinux_camera_run(device.descriptor, 0)
    for memory in memories { munmap(memory.baseAddress, memory.count) }
  }

  private static func check(_ status: Int32, _ device: CameraDevice) throws(CaptureError) {
    guard status < 0 else { return }
    if status == -EBUSY { throw .unavailable(CameraDevice.busy(device.name)) }
    throw .unavailable("The camera \(device.name) refuses to start: \(String(cString: strerror(-status))).")
  }

  /// The newest picture, older ones dropped; nil when none has come or it is damaged.
  /// - Throws: when the camera is gone.
  func next() throws(CameraLost) -> (buffer: PixelBuffer, colorSpace: ColorSpace)? {
    var newest: (index: Int, used: Int)?
    while true {
      var used = 0
      let index = clinux_camera_dequeue(device.descriptor, &used)
      if index == -EAGAIN { break }
      guard index >= 0, Int(index) < memories.count else { throw CameraLost() }
      if let newest { _ = clinux_camera_queue(device.descriptor, UInt32(newest.index)) }
      newest = (Int(index), used)
    }
    guard let newest else { return nil }
    defer { _ = clinux_camera_queue(device.descriptor, UInt32(newest.index)) }
    let memory = memories[newest.index]
    let bytes = UnsafeRawBufferPointer(rebasing: memory[..<min(newest.used, memory.count)])
    guard let base = bytes.baseAddress, !bytes.isEmpty else { return nil }
    // The driver leaves the memory alone until it is queued again.
    let span = Span<UInt8>(_unsafeStart: base.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    return picture(span).map { ($0, colorSpace) }
  }

  private func picture(_ bytes: Span<UInt8>) -> PixelBuffer? {
    switch encoding {
    case .yuyv: CameraPixels.i420(yuyv: bytes, stride: rowBytes, size: size)
    case .jpeg, .motionJPEG: CameraPixels.bgra(jpeg: bytes, size: size)
    case .nv12, .i420: planes(bytes)
    }
  }

  /// Planes one after another, chroma rows as long as luma's (NV12) or half (I420).
  private func planes(_ bytes: Span<UInt8>) -> PixelBuffer? {
    let format = encoding.pixelFormat
    var offset = 0
    var isWhole = true
    let buffer = PixelBuffer.allocate(format: format, size: size) { plane, target, stride in
      let extent = format.planeExtent(plane, of: size)
      let sourceStride = plane == 0 || format == .nv12 ? rowBytes : rowBytes / 2
      guard sourceStride >= extent.rowBytes, offset + sourceStride * extent.rows <= bytes.count else {
        isWhole = false
        return
      }
      for row in 0..<extent.rows {
        for byte in 0..<extent.rowBytes { target[row * stride + byte] = bytes[offset + row * sourceStride + byte] }
      }
      offset += sourceStride * extent.rows
    }
    return isWhole ? buffer : nil
  }
}

/// The camera was unplugged, or its driver gave up.
struct CameraLost: Error {}
