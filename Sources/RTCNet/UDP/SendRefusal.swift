package import RTCPrimitives

/// A route by which the kernel would not send: there is no way, the source address is gone, a firewall forbids it.
package struct SendRefusal: Hashable, Sendable {
  /// The route of the datagram.
  package let route: Route
  /// The kernel's error number, such as `ENETUNREACH`.
  package let errno: Int32
}
