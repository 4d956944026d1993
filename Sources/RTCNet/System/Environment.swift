import Glibc

/// The environment of this process.
package enum Environment {
  /// The values of the set variables among `names`. Not while another thread changes the environment.
  package static func values(_ names: [String]) -> [String: String] {
    var found: [String: String] = [:]
    for name in names { if let value = unsafe getenv(name) { found[name] = unsafe String(cString: value) } }
    return found
  }
}
