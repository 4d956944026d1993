import CLinux
import Glibc
package import RTCPrimitives

/// One end of the connection between this process and a child, or its parent, in messages. Any thread may send; one receives.
package final class MessageSocket: Sendable {
  package enum Arrival {
    /// A message and the descriptor that came with it, which the receiver must close.
    case message([UInt8], descriptor: Int32?)
    /// No message arrived in the time that `setPatience` set.
    case silence
    case end
  }

  /// The result of `receiveBytes`. A message's bytes are the first `count` bytes of the room.
  package enum Reception {
    case message(count: Int, descriptor: Int32?)
    case silence
    case end
  }

  /// The length of the longest message.
  package static let capacity = 96 * 1024
  package let descriptor: Int32

  /// Creates a socket that owns the descriptor.
  package init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Closes the descriptor, once the last lease on a picture that came through is gone too. So no other descriptor
  /// takes its number while a thread may still send.
  deinit { close(descriptor) }

  /// Sends a message. Returns false when the other side is gone, or with `isPatient` false when it does not read.
  @discardableResult
  package func send(_ bytes: [UInt8], descriptor passed: Int32 = -1, isPatient: Bool) -> Bool {
    unsafe bytes.withUnsafeBytes {
      unsafe clinux_send_descriptor(descriptor, $0.baseAddress, $0.count, passed, isPatient ? 0 : Int32(MSG_DONTWAIT))
    } == 0
  }

  /// Sends one message of two parts, waiting as long as `setPatience` says.
  /// - Returns: nil when the message is sent, else `silence` or `end`.
  package func send(_ head: [UInt8], followedBy body: Span<UInt8>) -> Reception? {
    let status = unsafe head.withUnsafeBytes { head in
      unsafe body.withUnsafeBytes { body in
        unsafe clinux_send_parts(descriptor, head.baseAddress, head.count, body.baseAddress, body.count, 0)
      }
    }
    return status == 0 ? nil : status == -EAGAIN ? .silence : .end
  }

  /// Waits for the next message. `room` is kept between calls.
  package func receive(into room: inout [UInt8]) -> Arrival {
    switch receiveBytes(into: &room) {
    case .message(let count, let descriptor): .message(Array(room[..<count]), descriptor: descriptor)
    case .silence: .silence
    case .end: .end
    }
  }

  /// Waits for the next message, whose bytes stay in `room`: only the room is allocated, once.
  /// - Parameter waits: with false, returns `silence` where no message is there.
  package func receiveBytes(into room: inout [UInt8], waits: Bool = true) -> Reception {
    if room.count < Self.capacity { room = [UInt8](repeating: 0, count: Self.capacity) }
    var passed: Int32 = -1
    let count = unsafe room.withUnsafeMutableBytes {
      unsafe clinux_receive_descriptor(
        descriptor, $0.baseAddress, $0.count, &passed, waits ? 0 : Int32(MSG_DONTWAIT))
    }
    guard count > 0 else {
      if passed >= 0 { close(passed) }
      return count == -EAGAIN ? .silence : .end
    }
    return .message(count: Int(count), descriptor: passed >= 0 ? passed : nil)
  }

  /// Sets how long `receive` waits before it returns `silence`, and how long a send waits before it fails; zero:
  /// without limit.
  package func setPatience(_ patience: TimeDelta) {
    let microseconds = patience.nanoseconds / 1000
    var time = timeval(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Shuts the connection down in both directions.
  package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
