package import RTCMedia

/// The pictures of a decoder's own process that the other side reads, in memory that both share.
package struct LentPictures {
  private let memory: SharedDecoderMemory
  /// Memory for pictures that a decoder put elsewhere.
  private let copies: PixelBufferPool
  /// Each with its slot. One may be there twice.
  private var lent: [(slot: UInt8, picture: PixelBuffer)] = []

  package init(_ memory: SharedDecoderMemory) {
    self.memory = memory
    copies = PixelBufferPool(memory: memory)
  }

  /// Keeps a picture until its slot is given back.
  /// - Returns: the picture as the other side is told of it, whose samples mean `colorSpace`; nil when there is no memory for it.
  package mutating func lend(_ picture: PixelBuffer, _ colorSpace: ColorSpace) -> SharedPicture? {
    guard let (shared, place) = share(picture) else { return nil }
    lent.append((place.slot, shared))
    return SharedPicture(shared, colorSpace, slot: place.slot, planes: place.planes)
  }

  /// - Parameter released: a bit for each slot that is not read any more.
  package mutating func takeBack(_ released: UInt64) {
    if released != 0 { lent.removeAll { released >> UInt64($0.slot) & 1 == 1 } }
  }

  /// The picture where it is, or a copy of it in shared memory.
  private func share(
    _ picture: PixelBuffer
  ) -> (picture: PixelBuffer, place: (slot: UInt8, planes: [(offset: Int, stride: Int)]))? {
    if let place = memory.place(of: picture) { return (picture, place) }
    let copy = copies.buffer(picture.format, picture.size) { index, bytes, stride in
      let plane = unsafe picture.unsafePlane(index)
      // Both sides have `rows` rows of at least `rowBytes` bytes, each in memory of its own.
      unsafe bytes.withUnsafeMutableBytes { target in
        for row in unsafe 0..<plane.rows {
          unsafe (target.baseAddress! + row * stride).copyMemory(
            from: plane.base + row * plane.stride, byteCount: plane.rowBytes)
        }
      }
    }
    guard let copy, let place = memory.place(of: copy) else { return nil }
    return (copy, place)
  }
}
