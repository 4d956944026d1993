/// The datagrams one step wants sent, in order, back to back in one reused buffer.
///
/// Datagrams to the same route and of equal length lie next to each other, so that the network layer can hand a whole
/// run to the kernel as one segmented send (UDP GSO) without gathering. The owner empties it with `removeAll()` after
/// sending; after warm-up nothing here allocates. Owned by one thread.
public struct DatagramBatch: ~Copyable {
  /// One datagram's place in the buffer.
  public struct Entry: Sendable, BitwiseCopyable {
    /// The route to send the datagram by.
    public var route: Route
    /// The start of the datagram in `DatagramBatch.bytes`.
    public var offset: Int
    /// The datagram's length in bytes.
    public var count: Int
    /// The datagram's content, as far as its writer knows it.
    public var content = Content.other
  }

  /// The contents of datagrams that the owner of several peers treats in its own way.
  public enum Content: Sendable, BitwiseCopyable {
    /// An ICE connectivity check or consent check, a STUN request.
    case check
    /// Anything else.
    case other
  }

  /// The room for a writer. Video, RTCP, DTLS and data channels fill at most 1,200 bytes, which fit an MTU of 1,280
  /// with the headers of ChannelData, UDP and IPv6; only audio packets may be larger, above some 150 kbit/s with 60 ms
  /// each.
  public static let maximumDatagramSize = 1500

  /// The datagrams in the order they were appended.
  public private(set) var entries: [Entry] = []
  private var storage: [UInt8]
  private var used = 0

  /// - Parameter capacity: the bytes reserved at first; grows by doubling when a step needs more.
  public init(capacity: Int = 256 * 1024) {
    storage = [UInt8](repeating: 0, count: capacity)
    entries.reserveCapacity(capacity / 1024)
  }

  /// True when there are no datagrams.
  public var isEmpty: Bool { entries.isEmpty }
  /// The number of datagrams.
  public var count: Int { entries.count }
  /// The bytes of memory in use: the datagrams, and the free bytes before them.
  public var byteCount: Int { used }

  /// Appends one datagram of at most `capacity` bytes. `body` writes it and returns its length;
  /// a length of 0 appends nothing.
  /// - Returns: the datagram's length.
  @discardableResult
  public mutating func append(
    to route: Route, capacity: Int = maximumDatagramSize, content: Content = .other,
    _ body: (inout MutableSpan<UInt8>) -> Int
  ) -> Int {
    let start = used + route.kind.headroom
    if storage.count - start < capacity { grow(for: start + capacity) }
    var count = 0
    do {
      var all = storage.mutableSpan
      var free = all._mutatingExtracting(start..<start + capacity)
      count = body(&free)
    }
    precondition(count >= 0 && count <= capacity, "DatagramBatch: the writer claims more bytes than it was given")
    guard count > 0 else { return 0 }
    entries.append(Entry(route: route, offset: start, count: count, content: content))
    used = start + count
    return count
  }

  /// Puts `header` in front of a datagram whose route leaves room for it, and sends it another way. Datagrams that lay
  /// next to each other do so with their headers.
  public mutating func encapsulate(_ index: Int, header: UInt32, to route: Route) {
    let entry = entries[index]
    precondition(entry.route.kind.headroom == 4, "DatagramBatch: this datagram has no room for a header")
    let start = entry.offset - 4
    for byte in 0..<4 { storage[start + byte] = UInt8(truncatingIfNeeded: header >> UInt32(24 - 8 * byte)) }
    entries[index] = Entry(route: route, offset: start, count: entry.count + 4, content: entry.content)
  }

  /// Appends a copy of `bytes`.
  public mutating func append(_ bytes: Span<UInt8>, to route: Route) {
    append(to: route, capacity: bytes.count) { out in
      out.copy(from: bytes)
      return bytes.count
    }
  }

  /// All datagrams' bytes, back to back; `entries` says where each lies.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get { storage.span.extracting(0..<used) }
  }

  /// The bytes of datagram `index`.
  @_lifetime(borrow self)
  public func datagram(_ index: Int) -> Span<UInt8> {
    let entry = entries[index]
    return storage.span.extracting(entry.offset..<entry.offset + entry.count)
  }

  /// Takes out the datagrams from `first` on that `body` says it took, and moves the rest together.
  public mutating func remove(from first: Int, where body: (Span<UInt8>, Entry) -> Bool) {
    var kept = first
    for index in first..<entries.count {
      var entry = entries[index]
      guard !body(datagram(index), entry) else { continue }
      let end = (kept == 0 ? 0 : entries[kept - 1].offset + entries[kept - 1].count) + entry.route.kind.headroom
      if entry.offset != end {
        for byte in 0..<entry.count { storage[end + byte] = storage[entry.offset + byte] }
        entry.offset = end
      }
      entries[kept] = entry
      kept += 1
    }
    entries.removeSubrange(kept...)
    used = entries.last.map { $0.offset + $0.count } ?? 0
  }

  /// Forgets all datagrams and keeps the memory.
  public mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    used = 0
  }

  private mutating func grow(for needed: Int) {
    let size = max(needed, storage.count * 2)
    storage.append(contentsOf: repeatElement(0, count: size - storage.count))
  }
}
