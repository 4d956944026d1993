import Glibc
import RTCMedia
import Synchronization

/// A decoder's memory in its own process: shared with the one that shows the pictures, which finds a picture by slot.
package final class SharedDecoderMemory: DecoderMemory {
  /// References of AV1 and VP9, pictures under way, and those that a decoder's pool keeps.
  package static let slotCount = 48

  private struct Block {
    var address: UInt
    var byteCount: Int
    var slot: UInt8
  }

  private let slots: SharedSlots
  private let blocks = Mutex<[Block]>([])

  private let largest: Int64

  /// - Parameter largest: bytes of one piece at most.
  package init(_ socket: MessageSocket, largest: Int64 = DecoderChild.largestSegment) {
    self.largest = largest
    slots = SharedSlots(socket, count: Self.slotCount)
  }

  package func allocate(byteCount: Int) -> UInt? {
    guard byteCount > 0, Int64(byteCount) <= largest,
      let piece = unsafe slots.make(byteCount: byteCount)
    else { return nil }
    let block = unsafe Block(address: UInt(bitPattern: piece.base), byteCount: byteCount, slot: piece.slot)
    blocks.withLock { $0.append(block) }
    return block.address
  }

  package func free(_ address: UInt, byteCount: Int) {
    let block = blocks.withLock { blocks -> Block? in
      blocks.firstIndex { $0.address == address }.map { blocks.remove(at: $0) }
    }
    guard let block else { return }
    slots.free(block.address, byteCount: block.byteCount, slot: block.slot)
  }

  /// Where the planes of a picture lie, if all of them lie in one piece of this memory.
  func place(of picture: PixelBuffer) -> (slot: UInt8, planes: [(offset: Int, stride: Int)])? {
    let first = unsafe UInt(bitPattern: picture.unsafePlane(0).base)
    let block = blocks.withLock { $0.first { first >= $0.address && first - $0.address < UInt($0.byteCount) } }
    guard let block else { return nil }
    var planes: [(offset: Int, stride: Int)] = []
    planes.reserveCapacity(picture.format.planeCount)
    for index in 0..<picture.format.planeCount {
      let plane = unsafe picture.unsafePlane(index)
      let address = unsafe UInt(bitPattern: plane.base)
      let length = unsafe UInt(plane.stride * (plane.rows - 1) + plane.rowBytes)
      guard address >= block.address, address - block.address <= UInt(block.byteCount),
        length <= UInt(block.byteCount) - (address - block.address)
      else { return nil }
      unsafe planes.append((Int(address - block.address), plane.stride))
    }
    return (block.slot, planes)
  }
}
