import CVPX
import RTCMedia
import Synchronization

/// Gives libvpx memory to decode into, and takes it back when neither libvpx nor anybody who shows the picture needs it.
final class VP9FrameStore: Sendable {
  private struct State {
    var free: [(address: UInt, size: Int)] = []
    /// Bytes in use.
    var used = 0
  }

  private static let kept = 4
  private let mostBytes: Int
  private let source: any DecoderMemory

  private let state = Mutex(State())

  init(mostBytes: Int, source: any DecoderMemory) {
    self.mostBytes = mostBytes
    self.source = source
  }

  deinit { for block in state.withLock({ $0.free }) { source.free(block.address, byteCount: block.size) } }

  /// At least `size` bytes, zero where nobody wrote yet; nil when too many are in use.
  func memory(_ size: Int) -> VP9FrameMemory? {
    let kept = state.withLock { state -> UInt? in
      guard size > 0, state.used + size <= mostBytes else { return nil }
      state.used += size
      guard let index = state.free.lastIndex(where: { $0.size == size }) else { return 0 }
      return state.free.remove(at: index).address
    }
    guard let kept else { return nil }
    guard kept == 0 else { return VP9FrameMemory(address: kept, size: size, store: self) }
    guard let fresh = source.allocate(byteCount: size) else {
      state.withLock { $0.used -= size }
      return nil
    }
    return VP9FrameMemory(address: fresh, size: size, store: self)
  }

  fileprivate func takeBack(_ address: UInt, _ size: Int) {
    let surplus = state.withLock { state -> (address: UInt, size: Int)? in
      state.used -= size
      if let other = state.free.firstIndex(where: { $0.size != size }) {
        defer { state.free[other] = (address, size) }
        return state.free[other]
      }
      guard state.free.count < Self.kept else { return (address, size) }
      state.free.append((address, size))
      return nil
    }
    if let surplus { source.free(surplus.address, byteCount: surplus.size) }
  }
}

/// The memory of one picture: goes back to its store with the last reference, libvpx's own being one.
final class VP9FrameMemory: Sendable {
  let address: UInt
  let size: Int
  private let store: VP9FrameStore

  fileprivate init(address: UInt, size: Int, store: VP9FrameStore) {
    self.address = address
    self.size = size
    self.store = store
  }

  deinit { store.takeBack(address, size) }
}

// libvpx's calls, with the store as context: it outlives the decoder (`VPXDecoding.useMemory`).

func giveFrameMemory(
  _ context: UnsafeMutableRawPointer?, _ size: Int, _ buffer: UnsafeMutablePointer<vpx_codec_frame_buffer_t>?
) -> Int32 {
  guard let context = unsafe context, let buffer = unsafe buffer,
    let memory = unsafe Unmanaged<VP9FrameStore>.fromOpaque(context).takeUnretainedValue().memory(size)
  else { return -1 }
  unsafe buffer.pointee.data = UnsafeMutablePointer(bitPattern: memory.address)
  unsafe buffer.pointee.size = memory.size
  // Balanced in `takeFrameMemory`.
  unsafe buffer.pointee.priv = Unmanaged.passRetained(memory).toOpaque()
  return 0
}

func takeFrameMemory(
  _ context: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<vpx_codec_frame_buffer_t>?
) -> Int32 {
  guard let buffer = unsafe buffer, let memory = unsafe buffer.pointee.priv else { return 0 }
  unsafe buffer.pointee.priv = nil
  unsafe buffer.pointee.data = nil
  unsafe Unmanaged<VP9FrameMemory>.fromOpaque(memory).release()
  return 0
}
