extension [UInt8] {
  /// Appends all bytes of `span`.
  package mutating func append(_ span: Span<UInt8>) {
    // The pointer is valid for the call, and appending copies.
    unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// A copy of `span`.
  package init(copying span: Span<UInt8>) {
    self.init()
    append(span)
  }
}
