internal import CFFmpeg
internal import Glibc
internal import RTCMedia

/// The bytes of a file, as its demuxer reads them. Used by one thread at a time.
protocol FileBytes: AnyObject {
  /// Copies bytes from `offset` on, as many as there are and fit.
  /// - Returns: how many; 0 at the end of the file, and the negated errno when they cannot be read.
  func read(at offset: Int64, into room: UnsafeMutableRawBufferPointer) -> Int

  /// The file's length; negative when it cannot be told.
  var size: Int64 { get }
}

/// A file that this process has opened.
final class OpenFile: FileBytes {
  private let descriptor: Int32

  /// - Throws: a sentence for each way in which the file can be missing or not for this user.
  init(path: String) throws(CaptureError) {
    try FileRefusal.checkPlace(path)
    // Without waiting, should the file be a pipe by now.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileRefusal.unreadable(path, errno) }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  func read(at offset: Int64, into room: UnsafeMutableRawBufferPointer) -> Int {
    guard offset >= 0, let base = room.baseAddress else { return Int(-EINVAL) }
    while true {
      let count = pread(descriptor, base, room.count, off_t(offset))
      if count >= 0 { return count }
      guard errno == EINTR else { return Int(-errno) }
    }
  }

  var size: Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
  }
}

/// FFmpeg's access to the bytes of a file. Must outlive the demuxer that reads by it.
final class FileIO {
  private(set) var context: UnsafeMutablePointer<AVIOContext>?
  private let bytes: any FileBytes
  private var position: Int64 = 0

  /// Bytes that are read at once.
  static let bufferSize = 60 * 1024

  /// Nil without FFmpeg, or without memory.
  init?(_ bytes: any FileBytes) {
    self.bytes = bytes
    guard let buffer = av_malloc(Self.bufferSize) else { return nil }
    // `self` outlives the context: `deinit` frees it.
    let context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), 0, Unmanaged.passUnretained(self).toOpaque(),
      { opaque, room, count in
        guard let opaque, let room, count > 0 else { return cffmpeg_error(EINVAL) }
        return Unmanaged<FileIO>.fromOpaque(opaque).takeUnretainedValue().read(
          UnsafeMutableRawBufferPointer(start: room, count: Int(count)))
      }, nil,
      { opaque, offset, whence in
        guard let opaque else { return Int64(cffmpeg_error(EINVAL)) }
        return Unmanaged<FileIO>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
      })
    guard let context else {
      av_free(buffer)
      return nil
    }
    self.context = context
  }

  deinit {
    av_free(context?.pointee.buffer)
    avio_context_free(&context)
  }

  private func read(_ room: UnsafeMutableRawBufferPointer) -> Int32 {
    let count = bytes.read(at: position, into: room)
    guard count > 0 else { return count == 0 ? cffmpeg_error_eof : cffmpeg_error(Int32(truncatingIfNeeded: -count)) }
    position += Int64(count)
    return Int32(count)
  }

  private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    let size = bytes.size
    let origin: Int64
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return size >= 0 ? size : Int64(cffmpeg_error(ENOSYS))
    case SEEK_SET: origin = 0
    case SEEK_CUR: origin = position
    case SEEK_END: origin = max(0, size)
    default: return Int64(cffmpeg_error(EINVAL))
    }
    let (target, isOver) = origin.addingReportingOverflow(offset)
    guard !isOver, target >= 0 else { return Int64(cffmpeg_error(EINVAL)) }
    position = target
    return target
  }
}
