import CLinux
import Glibc
import RTCPrimitives

/// One end of the connection between a plugin's process and ours, in messages. Any thread may send; one receives.
final class MessageSocket: Sendable {
  enum Arrival {
    /// A message and the descriptor that came along, which is the receiver's to close.
    case message([UInt8], descriptor: Int32?)
    /// Patience is over.
    case silence
    case end
  }

  /// No message is longer.
  static let capacity = 96 * 1024
  let descriptor: Int32

  /// Takes over the descriptor.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Closed when the last lease on a picture that came through is gone too: no other descriptor takes its number
  /// while somebody may still send.
  deinit { close(descriptor) }

  /// False when the other side is gone, or with `isPatient` false when it does not read.
  @discardableResult
  func send(_ bytes: [UInt8], descriptor passed: Int32 = -1, isPatient: Bool) -> Bool {
    unsafe bytes.withUnsafeBytes {
      unsafe clinux_send_descriptor(descriptor, $0.baseAddress, $0.count, passed, isPatient ? 0 : Int32(MSG_DONTWAIT))
    } == 0
  }

  /// Waits for the next message. `room` is kept between calls.
  func receive(into room: inout [UInt8]) -> Arrival {
    if room.count < Self.capacity { room = [UInt8](repeating: 0, count: Self.capacity) }
    var passed: Int32 = -1
    let count = unsafe room.withUnsafeMutableBytes {
      unsafe clinux_receive_descriptor(descriptor, $0.baseAddress, $0.count, &passed)
    }
    guard count > 0 else {
      if passed >= 0 { close(passed) }
      return count == -EAGAIN ? .silence : .end
    }
    return .message(Array(room[..<Int(count)]), descriptor: passed >= 0 ? passed : nil)
  }

  /// From now on `receive` returns `silence` after this long without a message; zero: never.
  func setPatience(_ patience: TimeDelta) {
    let microseconds = patience.nanoseconds / 1000
    var time = timeval(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Nothing more goes either way.
  func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
