package import RTCPrimitives

/// Pixels that were elsewhere in the picture before.
package struct PictureMove: Hashable, Sendable {
  /// The place of the pixels in the new picture.
  package var rect: PixelRect
  /// The pixel at (x, y) was at (x − dx, y − dy).
  package var dx: Int
  package var dy: Int

  package init(_ rect: PixelRect, dx: Int, dy: Int) { (self.rect, self.dx, self.dy) = (rect, dx, dy) }

  /// The place of the pixels of `part` in the picture before.
  package func source(of part: PixelRect) -> PixelRect {
    PixelRect(x: part.x - dx, y: part.y - dy, width: part.width, height: part.height)
  }
}

/// How a picture follows from the picture before: pixels moved, and patches of new pixels are laid upon them.
package struct MovedPicture: Hashable, Sendable {
  /// New pixels.
  package struct Patch: Hashable, Sendable {
    package var rect: PixelRect
    /// Empty until it is encoded.
    package var webP: [UInt8] = []
  }

  /// Their rectangles have no pixel in common.
  package var moves: [PictureMove]
  /// The blocks that are right after the moves. Pixels of them that no move covers are as before.
  package var moved: BlockSet
  /// The blocks that are right after the moves and the patches.
  package private(set) var patched: BlockSet
  /// Their rectangles have no block in common.
  package private(set) var patches: [Patch]

  package init(moves: [PictureMove], moved: BlockSet, patched: BlockSet, patches: [PixelRect]) {
    (self.moves, self.moved, self.patched) = (moves, moved, patched)
    self.patches = patches.map { Patch(rect: $0) }
  }

  /// Bytes of all encoded patches.
  package var patchBytes: Int { patches.reduce(0) { $0 + $1.webP.count } }

  /// Encodes the patches. Those that are not encoded are left out.
  package mutating func encode(_ body: (PixelRect) -> [UInt8]?) {
    for index in patches.indices.reversed() {
      if let webP = body(patches[index].rect) {
        patches[index].webP = webP
      } else {
        patched.remove(BlockRect(covering: patches[index].rect))
        patches.remove(at: index)
      }
    }
  }
}
