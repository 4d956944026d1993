public import RTCPrimitives

/// "Reset my outgoing streams": their numbers begin at 0 again (RFC 6525 §4.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |     Parameter Type = 13       | Parameter Length = 16 + 2 * N |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |           Re-configuration Request Sequence Number            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |           Re-configuration Response Sequence Number           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                Sender's Last Assigned TSN                     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Stream Number 1 (optional)   |    Stream Number 2 (optional) …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct SCTPOutgoingResetRequest: Hashable, Sendable {
  /// The request's own number.
  public var requestNumber: UInt32
  /// The number of the request that this one answers, else the number before the next expected one.
  public var responseNumber: UInt32
  /// The last chunk sent before: the reset takes place when it has arrived.
  public var lastTSN: TSN
  /// Empty: all streams.
  public var streams: [StreamID]

  /// Takes all values as they are.
  public init(requestNumber: UInt32, responseNumber: UInt32, lastTSN: TSN, streams: [StreamID]) {
    self.requestNumber = requestNumber
    self.responseNumber = responseNumber
    self.lastTSN = lastTSN
    self.streams = streams
  }

  /// Nil when the parameter is another or too short.
  public init?(parsing parameter: SCTPParameter) {
    var reader = ByteReader(parameter.value)
    guard parameter.type == .outgoingResetRequest, let request = reader.readUInt32(),
      let response = reader.readUInt32(), let tsn = reader.readUInt32()
    else { return nil }
    self.init(requestNumber: request, responseNumber: response, lastTSN: TSN(tsn), streams: [])
    streams.reserveCapacity(reader.remaining / 2)
    while let stream = reader.readUInt16() { streams.append(StreamID(stream)) }
  }

  /// The bytes `write` needs: of a RE-CONFIG chunk with this parameter, padding included.
  public var chunkSize: Int { SCTPChunk.headerSize + SCTPChunk.paddedSize(valueSize: 12 + 2 * streams.count) }

  /// Writes a RE-CONFIG chunk with this parameter alone.
  @_lifetime(writer: copy writer)
  public func writeChunk(into writer: inout ByteWriter) {
    let size = SCTPParameter.headerSize + 12 + 2 * streams.count
    SCTPChunk.writeHeader(.reconfiguration, valueSize: size, into: &writer)
    writer.write(SCTPParameterType.outgoingResetRequest.rawValue)
    writer.write(UInt16(size))
    writer.write(requestNumber)
    writer.write(responseNumber)
    writer.write(lastTSN.value)
    for stream in streams { writer.write(stream.value) }
    writer.write(repeating: 0, count: -size & 3)
  }
}

/// The answer to any request for re-configuration (RFC 6525 §4.4).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |     Parameter Type = 16       |      Parameter Length         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |         Re-configuration Response Sequence Number             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                            Result                             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct SCTPReconfigurationResponse: Hashable, Sendable {
  /// The result of a request.
  public enum Result: UInt32, Sendable {
    case nothingToDo = 0
    case performed = 1
    case denied = 2
    case wrongStreamNumber = 3
    case requestAlreadyInProgress = 4
    case badSequenceNumber = 5
    /// Ask again later: not everything sent before the request has come.
    case inProgress = 6
  }

  /// The number of the request.
  public var responseNumber: UInt32
  /// The result.
  public var result: Result

  /// Takes both values as they are.
  public init(responseNumber: UInt32, result: Result) {
    self.responseNumber = responseNumber
    self.result = result
  }

  /// Nil when the parameter is another, too short, or its result unknown.
  public init?(parsing parameter: SCTPParameter) {
    var reader = ByteReader(parameter.value)
    guard parameter.type == .reconfigurationResponse, let number = reader.readUInt32(),
      let result = reader.readUInt32().flatMap(Result.init(rawValue:))
    else { return nil }
    self.init(responseNumber: number, result: result)
  }

  /// The bytes `write` needs: of a RE-CONFIG chunk with this parameter.
  public static let chunkSize = 16

  /// Writes a RE-CONFIG chunk with this parameter alone.
  @_lifetime(writer: copy writer)
  public func writeChunk(into writer: inout ByteWriter) {
    SCTPChunk.writeHeader(.reconfiguration, valueSize: 12, into: &writer)
    writer.write(SCTPParameterType.reconfigurationResponse.rawValue)
    writer.write(UInt16(12))
    writer.write(responseNumber)
    writer.write(result.rawValue)
  }
}
