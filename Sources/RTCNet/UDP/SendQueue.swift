import CLinux
import RTCPrimitives

/// Up to `capacity` runs on their way to the kernel, and the memory that describes them to it, allocated once.
@safe
struct SendQueue: ~Copyable {
  static let capacity = 64

  // The three blocks hold `capacity` initialised elements each from init to deinit; only [0, count) is meaningful.
  private let headers: UnsafeMutablePointer<clinux_header>
  private let messages: UnsafeMutablePointer<clinux_message>
  private let runs: UnsafeMutablePointer<SendRun>
  private(set) var count = 0

  init() {
    unsafe headers = .allocate(capacity: Self.capacity)
    unsafe messages = .allocate(capacity: Self.capacity)
    unsafe runs = .allocate(capacity: Self.capacity)
    unsafe headers.initialize(repeating: clinux_header(), count: Self.capacity)
    unsafe messages.initialize(repeating: clinux_message(), count: Self.capacity)
    for i in 0..<Self.capacity { unsafe clinux_message_prepare(headers + i, messages + i) }
  }

  deinit {
    unsafe headers.deallocate()
    unsafe messages.deallocate()
    unsafe runs.deallocate()
  }

  var isFull: Bool { count == Self.capacity }

  func run(_ index: Int) -> SendRun {
    precondition(index < count)
    return unsafe runs[index]
  }

  /// Queues `run`, whose bytes lie in `buffer`; the buffer must stay where it is until the queue has been sent.
  @unsafe
  mutating func append(_ run: SendRun, in buffer: UnsafeRawBufferPointer) {
    precondition(count < Self.capacity && run.offset >= 0 && run.offset + run.byteCount <= buffer.count)
    guard let base = buffer.baseAddress else { return }
    var local = clinux_address(run.route.local)
    var remote = clinux_address(run.route.remote)
    unsafe clinux_message_fill(
      headers + count, messages + count, &local, &remote, base + run.offset, run.byteCount,
      run.count > 1 ? UInt16(run.size) : 0)
    unsafe (runs + count).initialize(to: run)
    count += 1
  }

  /// Sends the runs from `first` on, at most `limit`. Returns the number that the kernel took (at least one), or the
  /// first one's negated errno.
  func send(on descriptor: Int32, from first: Int, limit: Int = capacity) -> Int {
    precondition(first < count)
    return Int(unsafe clinux_batch_send(descriptor, headers + first, UInt32(min(limit, count - first))))
  }

  mutating func removeAll() { count = 0 }
}
