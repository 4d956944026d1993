internal import CFFmpeg
internal import Synchronization

/// The bytes of a packet, shared and never changed.
///
/// `@unchecked Sendable`: a packet of FFmpeg's is owned by this object alone and is freed in `deinit`; its bytes do not
/// change after `init`. `stamp` is set before the object is shared.
package final class PacketPayload: @unchecked Sendable {
  private enum Content {
    case own(UnsafeMutablePointer<AVPacket>)
    /// A packet that another process has, and what it sent of it.
    case remote(id: UInt64, bytes: [UInt8], count: Int, newExtradata: [UInt8]?, released: ReleasedPackets)
  }

  private let content: Content
  /// The times of showing and decoding, for the packet's decoder.
  private(set) var stamp = PacketStamp(pts: nil, dts: nil, duration: 0)

  /// Takes over a packet whose data is reference-counted.
  init(owning packet: UnsafeMutablePointer<AVPacket>) { content = .own(packet) }

  /// - Parameters:
  ///   - id: by which the process that has the packet knows it.
  ///   - bytes: all of the packet's; empty where they are not wanted here.
  ///   - count: how many bytes the packet has.
  ///   - released: told when the packet is not needed any more.
  init(id: UInt64, bytes: [UInt8], count: Int, newExtradata: [UInt8]?, released: ReleasedPackets) {
    content = .remote(id: id, bytes: bytes, count: count, newExtradata: newExtradata, released: released)
  }

  deinit {
    switch content {
    case .own(let packet):
      var owned: UnsafeMutablePointer<AVPacket>? = packet
      av_packet_free(&owned)
    case .remote(let id, _, _, _, let released): released.note(id)
    }
  }

  /// Says when the packet is shown and decoded. Before it is shared.
  func setStamp(_ stamp: PacketStamp) { self.stamp = stamp }

  /// The packet for its decoder, with its stamp; nil: another process has it. On the one thread that decodes.
  var packet: UnsafeMutablePointer<AVPacket>? {
    guard case .own(let packet) = content else { return nil }
    packet.pointee.pts = stamp.pts ?? cffmpeg_no_timestamp
    packet.pointee.dts = stamp.dts ?? cffmpeg_no_timestamp
    packet.pointee.duration = stamp.duration
    return packet
  }

  /// The packet's number in the process that has it; nil when the packet is in this process.
  var id: UInt64? { if case .remote(let id, _, _, _, _) = content { id } else { nil } }

  package var count: Int {
    switch content {
    case .own(let packet): max(0, Int(packet.pointee.size))
    case .remote(_, _, let count, _, _): count
    }
  }

  package var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      switch content {
      case .own(let packet):
        let start = UnsafePointer<UInt8>(packet.pointee.data)
        // The packet's data lives and stays as it is for as long as self, which the result borrows.
        let span = Span<UInt8>(
          _unsafeElements: UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(packet.pointee.size)))
        return _overrideLifetime(span, borrowing: self)
      case .remote(_, let bytes, _, _, _): return _overrideLifetime(bytes.span, borrowing: self)
      }
    }
  }

  /// Global headers that replace the stream's from this packet on (H.264 in mp4, when they change under way).
  package var newExtradata: [UInt8]? {
    switch content {
    case .own(let packet):
      var size = 0
      guard let data = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 else { return nil }
      return Array(UnsafeBufferPointer(start: data, count: size))
    case .remote(_, _, _, let extradata, _): return extradata
    }
  }
}

/// The packets that another process has and that are not needed any more. Any thread.
final class ReleasedPackets: Sendable {
  private let ids = Mutex<[UInt64]>([])

  func note(_ id: UInt64) { ids.withLock { $0.append(id) } }

  /// At most `most` of those that were noted since.
  func take(_ most: Int) -> [UInt64] {
    ids.withLock { ids in
      let taken = Array(ids.suffix(most))
      ids.removeLast(taken.count)
      return taken
    }
  }
}

/// The times at which a packet is shown and decoded on the media timeline, in nanoseconds, in the form for its decoder.
package struct PacketStamp: Hashable, Sendable {
  /// The times of showing and decoding; nil when they are not known.
  package var pts: Int64?
  package var dts: Int64?
  package var duration: Int64

  package init(pts: Int64?, dts: Int64?, duration: Int64) { (self.pts, self.dts, self.duration) = (pts, dts, duration) }
}
