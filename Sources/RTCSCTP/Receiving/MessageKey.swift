import RTCWire

/// Identifies messages: of I-DATA all, of DATA the ordered ones.
struct MessageKey: Hashable {
  var stream: StreamID
  var isUnordered: Bool
  var number: UInt32

  init(stream: StreamID, isUnordered: Bool, number: UInt32) {
    self.stream = stream
    self.isUnordered = isUnordered
    // The number of unordered messages means nothing in DATA; I-DATA has lists by key, in which all numbers are alike.
    self.number = isUnordered ? 0 : number
  }

  init(_ data: SCTPData) {
    self.init(stream: data.stream, isUnordered: data.isUnordered, number: data.messageNumber)
  }
}
