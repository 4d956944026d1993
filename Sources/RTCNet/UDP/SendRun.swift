package import RTCPrimitives

/// Consecutive datagrams of a batch that the kernel can cut out of one buffer (UDP GSO): the same route, back to back,
/// all `size` bytes long but for the last, which may be shorter.
package struct SendRun: Hashable, Sendable, BitwiseCopyable {
  /// The kernel's limit before 6.9 (`UDP_MAX_SEGMENTS`).
  package static let maximumCount = 64
  /// Headers included, a run must fit into one IP packet's 16-bit length.
  package static let maximumByteCount = 65_000

  package let route: Route
  /// The start of the first datagram in the batch's buffer.
  package let offset: Int
  /// The length of every datagram but the last.
  package let size: Int
  package let count: Int
  /// The sum of the datagrams' lengths.
  package let byteCount: Int

  /// The longest run of at most `limit` datagrams that starts at `entries[first]`.
  package init(in entries: [DatagramBatch.Entry], from first: Int, limit: Int = maximumCount) {
    let head = entries[first]
    var count = 1
    var byteCount = head.count
    while count < limit, first + count < entries.count {
      let next = entries[first + count]
      guard next.count <= head.count, byteCount + next.count <= Self.maximumByteCount,
        next.offset == head.offset + byteCount, next.route == head.route
      else { break }
      count += 1
      byteCount += next.count
      if next.count < head.count { break }
    }
    self.init(route: head.route, offset: head.offset, size: head.count, count: count, byteCount: byteCount)
  }

  private init(route: Route, offset: Int, size: Int, count: Int, byteCount: Int) {
    self.route = route
    self.offset = offset
    self.size = size
    self.count = count
    self.byteCount = byteCount
  }

  /// Datagram `index` alone.
  package func datagram(_ index: Int) -> SendRun {
    let start = index * size
    let length = index == count - 1 ? byteCount - start : size
    return SendRun(route: route, offset: offset + start, size: length, count: 1, byteCount: length)
  }
}
