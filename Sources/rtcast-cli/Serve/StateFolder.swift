import Glibc

/// The folder of files that are kept from run to run: `$XDG_STATE_HOME/rtcast`, else that of a configuration file, else
/// `~/.local/state/rtcast`; readable by this user only.
enum StateFolder {
  /// The path; nil: neither HOME nor XDG_STATE_HOME is set.
  static var path: String? {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    return variable("XDG_STATE_HOME").map { $0 + "/rtcast" } ?? ConfigurationFiles.current.stateFolder
      ?? variable("HOME").map { $0 + "/.local/state/rtcast" }
  }

  /// The folder, made where it is not there.
  static func make() throws(CastFailure) -> String {
    guard let path else {
      throw CastFailure(
        .cannotCreate,
        "There is no place to keep the hub's secret and certificate; set HOME or XDG_STATE_HOME, or give --token-file and "
          + "--tls-cert.")
    }
    try WholeFile.makeFolder(path)
    return path
  }
}
