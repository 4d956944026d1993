import Glibc

/// The router by which this machine reaches the Internet.
package enum DefaultRoute {
  /// The gateway of the default route of IPv4 with the lowest metric; nil if there is none.
  static func gateway() -> UInt32? {
    guard let text = read("/proc/self/net/route") else { return nil }
    return gateway(in: text)
  }

  /// Reads the kernel's table (proc_net(5)): hexadecimal numbers in the machine's byte order.
  package static func gateway(in text: String) -> UInt32? {
    var best: (metric: UInt32, gateway: UInt32)?
    for line in text.split(separator: "\n").dropFirst() {
      let fields = line.split(whereSeparator: \.isWhitespace)
      guard fields.count >= 8, let flags = UInt16(fields[3], radix: 16), flags & 0x3 == 0x3,
        UInt32(fields[1], radix: 16) == 0, UInt32(fields[7], radix: 16) == 0,
        let gateway = UInt32(fields[2], radix: 16), let metric = UInt32(fields[6])
      else { continue }
      if best.map({ metric < $0.metric }) ?? true { best = (metric, UInt32(bigEndian: gateway)) }
    }
    return best?.gateway
  }

  /// At most 64 KiB of a file.
  private static func read(_ path: String) -> String? {
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return nil }
    defer { close(number) }
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 4_096)
    while bytes.count < 65_536 {
      // The room is valid during the call, which writes at most its size.
      let count = unsafe room.withUnsafeMutableBytes { unsafe Glibc.read(number, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      bytes += room.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
