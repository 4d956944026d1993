extension InputPicture {
  /// The memory of this picture, for another encoder to read in place; nil for the memory of a surface. Unlike other
  /// buffers it changes with the next picture: reader and writer must be on one thread at a time, and the reader must be
  /// told of every change before it reads again.
  package func share() -> PixelBuffer? {
    guard ownsMemory else { return nil }
    let planes = unsafe (0..<format.planeCount).map { index in
      let plane = unsafe unsafePlane(index)
      return unsafe (base: UnsafeRawPointer(plane.base), stride: plane.stride)
    }
    // The memory is valid for as long as the picture lives, which the release holds.
    let owner = Owner(self)
    return unsafe PixelBuffer(format: format, size: size, planes: planes, release: { _ = owner })
  }

  /// Keeps a picture from being freed.
  private final class Owner: @unchecked Sendable {
    // Why unchecked: it keeps the reference and does nothing with it.
    private let picture: InputPicture
    init(_ picture: InputPicture) { self.picture = picture }
  }

  /// Copies pixels of the same format and size; false for others.
  package func copy(_ buffer: PixelBuffer) -> Bool {
    guard buffer.format == format, buffer.size == size else { return false }
    beginAccess()
    defer { endAccess() }
    for index in 0..<format.planeCount {
      let (to, from) = unsafe (unsafePlane(index), buffer.unsafePlane(index))
      // Both planes have equal extents, since format and size are equal, and both owners are held.
      let (rows, bytes) = unsafe (to.rows, to.rowBytes)
      for row in 0..<rows {
        unsafe UnsafeMutableRawPointer(to.base + row * to.stride)
          .copyMemory(from: from.base + row * from.stride, byteCount: bytes)
      }
    }
    return true
  }
}
