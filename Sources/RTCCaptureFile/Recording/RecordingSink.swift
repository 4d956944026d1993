internal import CFFmpeg
internal import Glibc

/// The file a muxer writes into, by system calls of our own, so that the system's reason for a refusal is known.
/// Used by one thread.
final class RecordingSink {
  private let descriptor: Int32
  private let files: RecordingFiles
  let path: String
  /// The first refusal; 0 = none. Nothing is written after one.
  private(set) var refusal: Int32 = 0
  private var position: Int64 = 0
  private var length: Int64 = 0
  /// The number of bytes of whole clusters or fragments, which can be played in any case.
  private(set) var safeLength: Int64 = 0

  /// Takes over a descriptor that `create` has opened.
  init(_ descriptor: Int32, path: String, files: RecordingFiles) {
    self.descriptor = descriptor
    self.path = path
    self.files = files
  }

  /// Creates the file, for this user alone. One that exists is taken only when it is empty, or no file but a device;
  /// a symbolic link never, for somebody else may have put it there.
  static func create(_ path: String, by files: RecordingFiles) throws(RecordingError) -> Int32 {
    let descriptor = files.create(path)
    guard descriptor >= 0 else { throw error(opening: path, -descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 {
      Glibc.close(descriptor)
      throw error(opening: path, EEXIST)
    }
    return descriptor
  }

  deinit { Glibc.close(descriptor) }

  /// All that was written so far belongs to whole clusters or fragments.
  func markSafe() { safeLength = length }

  /// Cuts off incomplete clusters or fragments. A file without any complete one is removed.
  func keepSafePart() {
    guard isRegularFile else { return }
    if safeLength == 0 { _ = files.remove(path) } else { _ = ftruncate(descriptor, off_t(safeLength)) }
  }

  private var isRegularFile: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private static func error(opening path: String, _ number: Int32) -> RecordingError {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    switch number {
    case EEXIST:
      return .alreadyExists("\(path) exists already and is left as it is; name another file, or remove it.")
    case ENOENT, ENOTDIR: return .noSuchFolder("There is no folder \(folder) to record into; create it first.")
    case EACCES, EPERM, EROFS:
      return .notPermitted("\(path) may not be written (\(words(number))); record into a folder of yours.")
    case ELOOP:
      return .notPermitted("\(path) is a symbolic link, which recordings do not follow; name the file itself.")
    case EISDIR: return .unavailable("\(path) is a folder; name a file in it to record into.")
    default: return .unavailable("\(path) cannot be written: \(words(number)). Name another file to record into.")
    }
  }

  /// The system's own words.
  static func words(_ number: Int32) -> String { String(cString: strerror(number)) }

  // MARK: - The muxer's calls

  fileprivate func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard refusal == 0 else { return cffmpeg_error(refusal) }
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        refusal = count < 0 ? errno : ENOSPC
        return cffmpeg_error(refusal)
      }
      position += Int64(count)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    length = max(length, position)
    return Int32(clamping: bytes.count)
  }

  fileprivate func seek(_ offset: Int64, _ origin: Int32) -> Int64 {
    if origin == AVSEEK_SIZE { return length }
    let reached = lseek(descriptor, off_t(offset), origin & ~AVSEEK_FORCE)
    guard reached >= 0 else { return Int64(cffmpeg_error(errno)) }
    position = Int64(reached)
    return position
  }

  /// An FFmpeg output that writes here, to be freed with `free(_:)`; it does not keep self alive. Nil: no memory.
  func makeOutput() -> UnsafeMutablePointer<AVIOContext>? {
    let capacity: Int32 = 64 << 10
    guard let buffer = av_malloc(Int(capacity)) else { return nil }
    let output = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), capacity, 1, Unmanaged.passUnretained(self).toOpaque(), nil,
      writeToSink, seekInSink)
    if output == nil { av_free(buffer) }
    return output
  }

  static func free(_ output: UnsafeMutablePointer<AVIOContext>) {
    // The library may have put another buffer in the place of the first.
    av_free(output.pointee.buffer)
    var output: UnsafeMutablePointer<AVIOContext>? = output
    avio_context_free(&output)
  }
}

// The opaque pointer is a sink that outlives the output: `MuxedFile` owns both.

private func writeToSink(_ sink: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32)
  -> Int32
{
  Unmanaged<RecordingSink>.fromOpaque(sink!).takeUnretainedValue()
    .write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
}

private func seekInSink(_ sink: UnsafeMutableRawPointer?, _ offset: Int64, _ origin: Int32) -> Int64 {
  Unmanaged<RecordingSink>.fromOpaque(sink!).takeUnretainedValue().seek(offset, origin)
}
