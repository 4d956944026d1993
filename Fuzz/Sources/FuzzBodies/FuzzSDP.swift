import RTCWire

/// A description, a trickle fragment and a candidate line: written text is read the same.
public func fuzzSDP(_ bytes: Span<UInt8>) {
  var copy: [UInt8] = []
  for index in bytes.indices { copy.append(bytes[index]) }
  let text = String(decoding: copy, as: UTF8.self)
  if let description = try? SessionDescription(parsing: text) {
    precondition(try! SessionDescription(parsing: description.description) == description)
  }
  if let fragment = try? TrickleFragment(parsing: text) {
    precondition(try! TrickleFragment(parsing: fragment.description) == fragment)
  }
  if let candidate = CandidateDescription(parsing: text) {
    precondition(CandidateDescription(parsing: candidate.description) == candidate)
  }
}
