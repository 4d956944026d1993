import Glibc

/// Owns one open file descriptor and closes it.
struct FileDescriptor: ~Copyable {
  let number: Int32

  /// Takes over `number`.
  init(owning number: Int32) { self.number = number }

  deinit { close(number) }
}
