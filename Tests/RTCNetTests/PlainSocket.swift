import Glibc

/// Sends a UDP datagram without payload to 127.0.0.1, which `DatagramBatch` cannot hold.
func sendEmptyDatagram(to port: UInt16) -> Bool {
  let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let size = socklen_t(MemoryLayout<sockaddr_in>.size)
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { sendto(descriptor, nil, 0, 0, $0, size) } == 0
  }
}

/// Has the kernel send without UDP checksums, with which it refuses segmented sends.
func switchOffChecksums(_ descriptor: Int32) {
  var one: Int32 = 1
  setsockopt(descriptor, SOL_SOCKET, SO_NO_CHECK, &one, socklen_t(MemoryLayout<Int32>.size))
}
