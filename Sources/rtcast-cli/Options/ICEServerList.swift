import ArgumentParser
import RTCPrimitives

extension ICEServer {
  /// `URI`, or `URI,USER,PASSWORD`; the password may have commas in it.
  init(written text: String) throws(ICEServerError) {
    let parts = text.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    try self.init(
      parsing: [parts[0]], username: parts.count > 1 ? parts[1] : nil, credential: parts.count > 2 ? parts[2] : nil)
  }

  /// `--ice-server`.
  package init(option text: String) throws {
    do throws(ICEServerError) { try self.init(written: text) } catch {
      throw ValidationError("--ice-server takes stun:HOST, or turn:HOST,USER,PASSWORD. \(error)")
    }
  }
}

/// Servers as a file or the environment lists them.
enum ICEServerList {
  /// Servers separated by blanks.
  static func parse(_ environment: String) throws(CastFailure) -> [ICEServer] {
    var servers: [ICEServer] = []
    for word in environment.split(whereSeparator: \.isWhitespace) {
      do throws(ICEServerError) { servers.append(try ICEServer(written: String(word))) } catch {
        throw CastFailure(.usage, "RTCAST_ICE_SERVERS lists servers separated by blanks. \(error)")
      }
    }
    return servers
  }

  /// One server on each line; `#` begins a comment.
  static func read(_ path: String) throws(CastFailure) -> [ICEServer] {
    let bytes = try WholeFile.readSecret(path, limit: 64 * 1_024, what: "The file of STUN and TURN servers")
    var servers: [ICEServer] = []
    for (index, line) in String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .enumerated()
    {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      guard words.count == 1 else {
        throw CastFailure(.noInput, "Line \(index + 1) of \(path) is not one server, written URI or URI,USER,PASSWORD.")
      }
      do throws(ICEServerError) { servers.append(try ICEServer(written: String(first))) } catch {
        throw CastFailure(.noInput, "Line \(index + 1) of \(path): \(error)")
      }
    }
    return servers
  }
}
