import RTCCapturePortal

/// The token with which the desktop portal restores what its user chose before, without a dialog.
enum PortalToken {
  private static let limit = 4096

  /// Where it is kept: in the state folder.
  static let store = PortalCaptureOptions.TokenStore(
    load: {
      guard let path = StateFolder.path.map({ $0 + "/portal-token" }), WholeFile.exists(path),
        let bytes = try? WholeFile.read(path, limit: limit, what: "The portal's token")
      else { return nil }
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
    },
    store: { token in
      guard token.utf8.count < limit, let folder = try? StateFolder.make() else { return }
      try? WholeFile.writeSecretly(Array((token + "\n").utf8), to: folder + "/portal-token")
    })
}
