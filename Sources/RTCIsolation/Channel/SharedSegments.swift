import CLinux
import Glibc
package import RTCMedia
import Synchronization

/// The memory that a child has shared, by slot, and which slots hold pictures that are read here. Used by one thread; pictures
/// may be released on any.
package final class SharedSegments {
  private let largest: Int64
  private let most: Int
  private let leases = SlotLeases()
  private var segments = [SharedSegment?](repeating: nil, count: SharedDecoderMemory.slotCount)
  private var byteCount = 0

  /// - Parameters:
  ///   - largest: bytes of one segment at most.
  ///   - most: bytes of all of them at most.
  package init(largest: Int64, most: Int) {
    self.largest = largest
    self.most = most
  }

  /// Maps memory as that of a slot, and leaves the descriptor to the caller. False where the child breaks the rules: the slot
  /// does not exist or is read, or the memory is not sealed or too large.
  package func map(_ descriptor: Int32, as slot: Int) -> Bool {
    guard segments.indices.contains(slot), !leases.isLeased(slot),
      let segment = SharedSegment(descriptor, largest: largest)
    else { return false }
    byteCount += segment.byteCount - (segments[slot]?.byteCount ?? 0)
    segments[slot] = segment
    return byteCount <= most
  }

  /// The picture where it lies; nil where it has more than `mostPixels` or does not fit the memory of its slot.
  /// - Parameter release: called when the picture is not read any more.
  package func buffer(
    of picture: SharedPicture, mostPixels: Int, release: (@Sendable () -> Void)? = nil
  ) -> PixelBuffer? {
    let slot = Int(picture.slot)
    guard segments.indices.contains(slot), let segment = segments[slot],
      picture.size.width * picture.size.height <= mostPixels, picture.planesFit(segment.byteCount)
    else { return nil }
    let leases = leases
    leases.lease(slot)
    return picture.buffer(in: segment) {
      leases.release(slot)
      release?()
    }
  }

  /// A bit for each slot that is not read any more since the last call.
  package func takeReleased() -> UInt64 { leases.takeReleased() }
}

/// Which slots hold pictures that somebody reads. Any thread.
private final class SlotLeases: Sendable {
  private struct State {
    var counts = [Int](repeating: 0, count: SharedDecoderMemory.slotCount)
    /// A bit for each slot that nobody reads any more and that the process was not told of.
    var released: UInt64 = 0
  }

  private let state = Mutex(State())

  func isLeased(_ slot: Int) -> Bool { state.withLock { $0.counts[slot] > 0 } }

  func lease(_ slot: Int) {
    state.withLock { state in
      state.counts[slot] += 1
      state.released &= ~(1 << UInt64(slot))
    }
  }

  func release(_ slot: Int) {
    state.withLock { state in
      state.counts[slot] -= 1
      if state.counts[slot] == 0 { state.released |= 1 << UInt64(slot) }
    }
  }

  func takeReleased() -> UInt64 {
    state.withLock { state in
      defer { state.released = 0 }
      return state.released
    }
  }
}

/// Memory that another process made and shares, read-only here.
///
/// `@unchecked Sendable`: all properties are constants, and the memory stays mapped for as long as this lives. The other
/// process may change the bytes against the rules: that spoils the picture and nothing else, for the size is sealed.
@safe
package final class SharedSegment: @unchecked Sendable {
  /// A picture of 16384x16384 pixels with four bytes each.
  package static let largest: Int64 = 1 << 30
  package let base: UnsafeRawPointer
  package let byteCount: Int

  /// Maps the memory and leaves the descriptor to the caller; nil when it is not sealed or has more than `largest` bytes.
  package init?(_ descriptor: Int32, largest: Int64 = SharedSegment.largest) {
    let size = clinux_sealed_memory_size(descriptor)
    guard size > 0, size <= largest else { return nil }
    guard let address = unsafe mmap(nil, Int(size), PROT_READ, MAP_SHARED, descriptor, 0), unsafe address != MAP_FAILED
    else {
      return nil
    }
    unsafe base = UnsafeRawPointer(address)
    byteCount = Int(size)
  }

  deinit { unsafe munmap(UnsafeMutableRawPointer(mutating: base), byteCount) }
}
