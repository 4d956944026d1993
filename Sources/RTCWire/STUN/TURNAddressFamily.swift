/// The family of a relayed address, in REQUESTED-ADDRESS-FAMILY and ADDITIONAL-ADDRESS-FAMILY (RFC 8656 §18.6, §18.11).
public enum TURNAddressFamily: UInt8, Sendable, BitwiseCopyable {
  case v4 = 1
  case v6 = 2
}
