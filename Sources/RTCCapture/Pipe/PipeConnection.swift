import Glibc
import RTCMedia
import RTCNet

/// The input of a stream.
public enum PipeInput: Hashable, Sendable {
  /// An open file descriptor, 0 for standard input. It is read, not closed; it need not be non-blocking.
  case descriptor(Int32)
  /// A Unix socket. If a program listens there, the stream is read from it; otherwise a socket is made there, for this
  /// user only, and the first program that connects may write. It is removed at the end of the capturer's run.
  case socket(path: String)
}

/// An open stream. Closes its descriptor if it opened it.
final class PipeConnection: Sendable {
  let descriptor: Int32
  private let isOurs: Bool

  init(descriptor: Int32, isOurs: Bool) {
    self.descriptor = descriptor
    self.isOurs = isOurs
  }

  deinit { if isOurs { close(descriptor) } }

  /// Bytes wait to be read right now. False where the system cannot say.
  var hasBytes: Bool {
    var count: Int32 = 0
    // FIONREAD writes one int.
    return unsafe ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count > 0
  }

  /// A large pipe means fewer turns between writer and reader; one that holds many pictures would only make them older.
  func widen(for pictureBytes: Int) {
    let setPipeSize: Int32 = 1031  // F_SETPIPE_SZ, which glibc shows to _GNU_SOURCE only
    if pictureBytes >= 1 << 20 { _ = fcntl(descriptor, setPipeSize, Int32(1 << 20)) }
  }
}

extension CaptureError {
  init(_ error: UnixSocketError) {
    switch error.kind {
    case .badPath: self = .unsupportedFormat(error.sentence)
    case .notPermitted: self = .notPermitted(error.sentence)
    case .unavailable: self = .unavailable(error.sentence)
    }
  }
}

/// The system's own words for an error number.
enum SystemReason {
  static func text(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
