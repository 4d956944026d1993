import RTCNet
public import RTCMedia
import RTCPrimitives

/// The capture devices of a sound server.
public struct PulseDevices: Hashable, Sendable {
  /// The server's name and version, as it says.
  public var server: String
  /// In the server's order.
  public var devices: [PulseDevice]
  /// The programs that play sound now, by name, as `PulseTarget.program` takes them.
  public var programs: [String]

  /// Asks the server; blocks until it has answered, 5 seconds at most. Any thread.
  /// - Parameter server: as PULSE_SERVER has it; nil for PULSE_SERVER and the library's own search.
  public static func list(server: String? = nil) throws(CaptureError) -> PulseDevices {
    do throws(PulseError) {
      let inventory = try inventory(server)
      return PulseDevices(
        server: "\(inventory.serverName) \(inventory.serverVersion)", devices: inventory.devices,
        programs: Set(inventory.streams.map(\.name)).sorted())
    } catch {
      throw error.captureError
    }
  }

  private static func inventory(_ server: String?) throws(PulseError) -> PulseInventory {
    let deadline = MonotonicClock.now() + .seconds(5)
    let connection = try PulseConnection(server: server)
    try connection.connect(until: deadline)
    _ = connection.requestInventory()
    while MonotonicClock.now() < deadline {
      if case .failed(let error) = connection.state { throw error }
      if let inventory = connection.takeInventory() { return inventory }
      connection.pump(until: deadline)
    }
    throw .timeout(server)
  }
}
