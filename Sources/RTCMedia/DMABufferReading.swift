import RTCPrimitives
import Synchronization

/// The reading of a `DMABuffer` by the processor during one lease: it begins with the first access, and ends with the
/// lease.
@safe
final class DMABufferReading: Sendable {
  let buffer: DMABuffer
  private let state = Mutex(State.notBegun)

  private enum State {
    case notBegun
    /// The processor may read the planes at these addresses.
    case begun([UInt])
    /// The grey picture in place of the pixels has this address. Zero: nobody has asked for it.
    case refused(DMABufferError, grey: UInt)
  }

  init(_ buffer: DMABuffer) { self.buffer = buffer }

  deinit {
    guard case .refused(_, let grey) = state.withLock({ $0 }), grey != 0 else { return }
    // Allocated by `grey`, and known to this object alone.
    unsafe UnsafeMutableRawPointer(bitPattern: grey)!.deallocate()
  }

  /// Begins at the first call. Later calls have the same result.
  func begin() throws(DMABufferError) {
    try state.withLock { state throws(DMABufferError) in
      switch state {
      case .begun: return
      case .refused(let error, _): throw error
      case .notBegun:
        do throws(DMABufferError) {
          let addresses = try buffer.map()
          try buffer.sync(begins: true)
          state = .begun(addresses)
        } catch {
          state = .refused(error, grey: 0)
          throw error
        }
      }
    }
  }

  /// Ends the reading. The next lease begins another.
  func end() {
    guard case .begun = state.withLock({ $0 }) else { return }
    try? buffer.sync(begins: false)
  }

  /// Plane `index`, which stays where it is for as long as this object lives.
  @unsafe
  func plane(_ index: Int) -> PixelBuffer.Plane {
    try? begin()
    let extent = buffer.format.planeExtent(index, of: buffer.size)
    return unsafe state.withLock { state in
      switch state {
      case .begun(let addresses):
        // `map` has checked that all rows are inside of the mapping, which `buffer` keeps.
        return unsafe PixelBuffer.Plane(
          base: UnsafeRawPointer(bitPattern: addresses[index])!, stride: buffer.planes[index].stride,
          rowBytes: extent.rowBytes, rows: extent.rows)
      case .refused(let error, var grey):
        if grey == 0 { grey = Self.grey(buffer) }
        state = .refused(error, grey: grey)
        // The first plane is the largest, and each has this memory.
        return unsafe PixelBuffer.Plane(
          base: UnsafeRawPointer(bitPattern: grey)!, stride: extent.rowBytes, rowBytes: extent.rowBytes,
          rows: extent.rows)
      case .notBegun: preconditionFailure("A reading has begun or was refused.")
      }
    }
  }

  /// Memory for any plane of the picture, grey in RGB and in YUV.
  private static func grey(_ buffer: DMABuffer) -> UInt {
    let extent = buffer.format.planeExtent(0, of: buffer.size)
    let byteCount = extent.rowBytes * extent.rows
    // NV12 of an odd width has one byte more in a row of its second plane, which has half as many rows.
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount + extent.rows + 1, alignment: 64)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 128, count: byteCount + extent.rows + 1)
    return UInt(bitPattern: memory)
  }
}
