public import RTCPrimitives

/// The header extensions of one packet to be sent. Values that are nil, or without an identifier in the map, are left
/// out. Trivial to copy; writing allocates nothing.
public struct RTPOutgoingExtensions: Sendable, BitwiseCopyable {
  /// The mid of the packet's m-section (RFC 9143 §15).
  public var mid: RTPStreamID?
  /// The packet's RTP stream (RFC 8852 §3.1).
  public var rid: RTPStreamID?
  /// The RTP stream that a retransmission repairs (RFC 8852 §3.2).
  public var repairedRid: RTPStreamID?
  /// Usually `.placeholder`, patched by `RTPLateFields` at the moment of sending.
  public var absSendTime: AbsoluteSendTime?
  /// Usually `.placeholder`, patched by `RTPLateFields` at the moment of sending.
  public var transportSequenceNumber: TransportSequenceNumber?
  /// The content of the video.
  public var contentType: VideoContentType?
  /// The bounds of the delay between capture and display.
  public var playoutDelay: PlayoutDelay?
  /// The rotation for display.
  public var orientation: VideoOrientation?
  /// When the packet's first sample was captured.
  public var captureTime: AbsoluteCaptureTime?
  /// How loud the packet's audio is (RFC 6464).
  public var audioLevel: AudioLevelIndication?
  /// The colour space of the samples; on the last packet of a key frame.
  public var colorSpace: ColorSpaceDescription?

  /// No extensions.
  public init() {}

  /// The length of all elements before padding; 0 when none is written.
  func elementsSize(map: borrowing RTPHeaderExtensionMap) -> Int {
    let overhead = map.needsTwoByteForm ? 2 : 1
    var size = 0
    if let mid, map[.mid] != nil { size += overhead + mid.count }
    if let rid, map[.rid] != nil { size += overhead + rid.count }
    if let repairedRid, map[.repairedRid] != nil { size += overhead + repairedRid.count }
    if absSendTime != nil, map[.absSendTime] != nil { size += overhead + AbsoluteSendTime.size }
    if transportSequenceNumber != nil, map[.transportSequenceNumber] != nil {
      size += overhead + TransportSequenceNumber.size
    }
    if contentType != nil, map[.videoContentType] != nil { size += overhead + VideoContentType.size }
    if playoutDelay != nil, map[.playoutDelay] != nil { size += overhead + PlayoutDelay.size }
    if orientation != nil, map[.videoOrientation] != nil { size += overhead + VideoOrientation.size }
    if let captureTime, map[.absCaptureTime] != nil { size += overhead + captureTime.size }
    if audioLevel != nil, map[.audioLevel] != nil { size += overhead + AudioLevelIndication.size }
    if colorSpace != nil, map[.colorSpace] != nil { size += overhead + ColorSpaceDescription.size }
    return size
  }

  /// Writes the elements, without the block's header and padding.
  /// - Parameter start: where in the writer the packet begins; late-field offsets count from there.
  @_lifetime(writer: copy writer)
  func writeElements(
    into writer: inout ByteWriter, map: borrowing RTPHeaderExtensionMap, packetStart start: Int
  ) -> RTPLateFields {
    let twoByte = map.needsTwoByteForm
    var late = RTPLateFields()
    // The late fields come first, at the same offsets in all packets of a stream, whatever other extensions there are.
    if let absSendTime, let id = map[.absSendTime] {
      writer.writeElementHeader(id: id, size: AbsoluteSendTime.size, twoByte: twoByte)
      late.setAbsSendTimeOffset(writer.offset - start)
      absSendTime.write(into: &writer)
    }
    if let transportSequenceNumber, let id = map[.transportSequenceNumber] {
      writer.writeElementHeader(id: id, size: TransportSequenceNumber.size, twoByte: twoByte)
      late.setTransportSequenceNumberOffset(writer.offset - start)
      transportSequenceNumber.write(into: &writer)
    }
    writeNames(into: &writer, map: map, twoByte: twoByte)
    writeMediaFields(into: &writer, map: map, twoByte: twoByte)
    return late
  }

  @_lifetime(writer: copy writer)
  private func writeNames(into writer: inout ByteWriter, map: borrowing RTPHeaderExtensionMap, twoByte: Bool) {
    if let mid, let id = map[.mid] {
      writer.writeElementHeader(id: id, size: mid.count, twoByte: twoByte)
      mid.write(into: &writer)
    }
    if let rid, let id = map[.rid] {
      writer.writeElementHeader(id: id, size: rid.count, twoByte: twoByte)
      rid.write(into: &writer)
    }
    if let repairedRid, let id = map[.repairedRid] {
      writer.writeElementHeader(id: id, size: repairedRid.count, twoByte: twoByte)
      repairedRid.write(into: &writer)
    }
  }

  @_lifetime(writer: copy writer)
  private func writeMediaFields(into writer: inout ByteWriter, map: borrowing RTPHeaderExtensionMap, twoByte: Bool) {
    if let contentType, let id = map[.videoContentType] {
      writer.writeElementHeader(id: id, size: VideoContentType.size, twoByte: twoByte)
      contentType.write(into: &writer)
    }
    if let playoutDelay, let id = map[.playoutDelay] {
      writer.writeElementHeader(id: id, size: PlayoutDelay.size, twoByte: twoByte)
      playoutDelay.write(into: &writer)
    }
    if let orientation, let id = map[.videoOrientation] {
      writer.writeElementHeader(id: id, size: VideoOrientation.size, twoByte: twoByte)
      orientation.write(into: &writer)
    }
    if let captureTime, let id = map[.absCaptureTime] {
      writer.writeElementHeader(id: id, size: captureTime.size, twoByte: twoByte)
      captureTime.write(into: &writer)
    }
    if let audioLevel, let id = map[.audioLevel] {
      writer.writeElementHeader(id: id, size: AudioLevelIndication.size, twoByte: twoByte)
      audioLevel.write(into: &writer)
    }
    if let colorSpace, let id = map[.colorSpace] {
      writer.writeElementHeader(id: id, size: ColorSpaceDescription.size, twoByte: twoByte)
      colorSpace.write(into: &writer)
    }
  }
}

extension ByteWriter {
  /// The header of one or two bytes before an element's data (RFC 8285 §4.2, §4.3).
  @_lifetime(self: copy self)
  fileprivate mutating func writeElementHeader(id: UInt8, size: Int, twoByte: Bool) {
    if twoByte {
      write(id)
      write(UInt8(size))
    } else {
      write(id << 4 | UInt8(size - 1))
    }
  }
}

/// The number of a packet among all packets of a transport, for congestion control: the transport-wide-cc header
/// extension (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2): 16 bits in network order.
public struct TransportSequenceNumber: SerialNumber {
  /// The length of the element's data in bytes, as it is written.
  public static let size = 2
  /// Stands where the real number is patched in later.
  public static let placeholder = TransportSequenceNumber(0)

  /// The 16 bits on the wire.
  public let value: UInt16
  /// The number with these 16 bits.
  public init(_ value: UInt16) { self.value = value }

  /// The data of a header extension element. Four bytes are accepted too: version 02 of the extension
  /// appends a feedback request, which is not looked at.
  public init?(parsing data: Span<UInt8>) {
    guard data.count == Self.size || data.count == Self.size + 2 else { return nil }
    value = data.networkOrder16(at: 0)
  }

  /// Writes the element's data, two bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) { writer.write(value) }
}

/// The content of a video: the video-content-type header extension
/// (webrtc.org/experiments/rtp-hdrext/video-content-type). One byte; only its lowest bit has a meaning today.
public enum VideoContentType: UInt8, Hashable, Sendable, BitwiseCopyable {
  case unspecified = 0
  /// A screen: the viewer should prefer sharpness and low delay.
  case screenshare = 1

  /// The length of the element's data in bytes.
  public static let size = 1

  /// The data of a header extension element; nil unless they are one byte. Bits formerly used are ignored.
  public init?(parsing data: Span<UInt8>) {
    guard data.count == Self.size else { return nil }
    self = data[0] & 1 == 1 ? .screenshare : .unspecified
  }

  /// Writes the element's data, one byte.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) { writer.write(rawValue) }
}
