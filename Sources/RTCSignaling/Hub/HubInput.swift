/// The number that a transport gives a connection. Never used twice.
package struct HubConnectionID: Hashable, Sendable {
  /// Chosen by the transport, used once.
  package var rawValue: UInt64

  /// The connection of that number.
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The language that a client speaks, by the path it came on.
public enum HubDialect: String, Sendable, CaseIterable {
  /// `/hub`: JSON objects with a `type`; see `NativeDialect`.
  case native = "hub"
  /// `/peerjs`: the protocol of PeerJS servers.
  case peerJS = "peerjs"
  /// `/skyrtc`: rooms after SkyRTC.
  case skyRTC = "skyrtc"
}

/// A connection that has just been made.
package struct HubOpening: Sendable, Equatable {
  /// The protocol that it speaks.
  package var dialect: HubDialect
  /// The query of the address that the client connected to, decoded.
  package var query: [String: String]
  /// Unguessable; becomes the secret of the name, unless the client brings one.
  package var secret: String
  /// Becomes the client's name where it does not choose one.
  package var name: String
  /// The client's IP address; wrong tokens are counted for it.
  package var address: String

  /// - Parameters:
  ///   - secretBytes: at least 16 bytes from a cryptographic source, new for each connection.
  ///   - nameBytes: 16 such bytes.
  package init(
    dialect: HubDialect, query: [String: String] = [:], address: String = "", secretBytes: [UInt8], nameBytes: [UInt8]
  ) {
    self.dialect = dialect
    self.address = address
    self.query = query
    self.secret = Self.hex(secretBytes)
    self.name = Self.name(from: nameBytes)
  }

  /// A name in the shape of a UUID (version 4, RFC 9562 §5.4), from 16 bytes.
  package static func name(from random: [UInt8]) -> String {
    var bytes = Array(random.prefix(16)) + Array(repeating: 0, count: max(0, 16 - random.count))
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Array(hex(bytes))
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }.joined()
  }
}

/// How a connection ended.
package enum HubParting: Sendable, Equatable {
  /// The client said that it goes (WebSocket close 1000 or 1001).
  case goodbye
  /// The connection broke; the client may return.
  case lost
}

/// An input of the hub from its transport.
package enum HubInput: Sendable, Equatable {
  /// A WebSocket was opened.
  case opened(HubConnectionID, HubOpening)
  /// A whole text message.
  case received(HubConnectionID, [UInt8])
  /// A sign of life without a message, such as a WebSocket pong.
  case heard(HubConnectionID)
  /// The transport cannot continue after this message: it exceeds the limit, or is not text.
  case unreadable(HubConnectionID, HubFault)
  /// The number of bytes of messages that were written to the client.
  case drained(HubConnectionID, bytes: Int)
  /// The transport closes the connection, for this reason.
  case closed(HubConnectionID, HubParting)
  /// The link with this identifier is revoked: its clients are notified and closed.
  case revoked(String)
  /// The presence has answered a claim, or other hubs have news.
  case presence(PresenceEvent)
  /// The time that `Hub.deadline` named has come.
  case deadline
  /// The server shuts down: all clients are notified and closed.
  case shutdown
}

/// An action of the hub for its transport.
package enum HubAction: Sendable, Equatable {
  /// Send a text message. After it was written, report its UTF-8 length by `drained`.
  case send(HubConnectionID, String)
  /// A WebSocket ping.
  case ping(HubConnectionID)
  /// Write the messages requested before, then close with a WebSocket status and reason. The hub has forgotten the
  /// connection.
  case close(HubConnectionID, code: UInt16, reason: String)
  /// Report an event to the operator.
  case announce(HubEvent)
  /// A decision about access.
  case audit(AuditEvent)
}

/// An event for the hub's operator.
public enum HubEvent: Sendable, Hashable {
  /// A name came, by this protocol.
  case registered(String, HubDialect)
  /// The owner of a name is back.
  case resumed(String)
  /// The name is free again.
  case left(String)
}
