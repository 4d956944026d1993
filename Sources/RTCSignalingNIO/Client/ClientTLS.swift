import RTCDTLS
import RTCSignaling

extension TLSContext {
  /// - Parameter file: PEM with the certificates to trust; nil for those the system trusts.
  static func client(trusting file: String?) throws(TLSConfigurationError) -> TLSContext {
    try TLSContext(trusting: file.map { .file($0) } ?? .system)
  }
}

extension TLSHost {
  init(_ host: HostName) { self = host.isAddress ? .address(host.text) : .name(host.text) }
}
