import Glibc

/// An address of a socket of this machine (AF_UNIX, unix(7)).
package enum LocalAddress {
  /// Calls a function of the system with an address.
  /// - Parameter name: a path; with a zero character in front, a name that is not a file.
  /// - Returns: the function's result; -1, with ENAMETOOLONG as `errno`, if no address holds the name.
  package static func with(_ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(name.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      errno = ENAMETOOLONG
      return -1
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    // Without a closing zero, which would be a part of a name that is not a file. The kernel closes paths itself.
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    // A sockaddr_un may be passed as a sockaddr.
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
  }
}
