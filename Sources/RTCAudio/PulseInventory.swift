package import RTCMedia

/// What sound a `PulseAudioSource` captures.
public enum PulseTarget: Hashable, Sendable {
  /// What the default output plays; follows when another becomes the default.
  case desktop
  /// The default input; follows when another becomes the default.
  case microphone
  /// One device, by its name, its description or a part of that, as `PulseDevices` lists them. Waited for when it goes.
  case device(String)
}

/// A device that sound can be captured from.
public struct PulseDevice: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    /// What an output plays.
    case desktop
    /// An input.
    case microphone
  }

  /// As `PulseTarget.device` takes it.
  public var name: String
  /// For people.
  public var description: String
  public var kind: Kind
  /// What `PulseTarget.desktop` or `.microphone` means now.
  public var isDefault: Bool

  public init(name: String, description: String, kind: Kind, isDefault: Bool) {
    self.name = name
    self.description = description
    self.kind = kind
    self.isDefault = isDefault
  }
}

/// What a sound server has at one moment.
package struct PulseInventory: Hashable, Sendable {
  package struct Sink: Hashable, Sendable {
    package var name: String
    package var monitor: String?

    package init(name: String, monitor: String?) {
      self.name = name
      self.monitor = monitor
    }
  }

  package struct Source: Hashable, Sendable {
    package var name: String
    package var description: String
    package var isMonitor: Bool

    package init(name: String, description: String, isMonitor: Bool) {
      self.name = name
      self.description = description
      self.isMonitor = isMonitor
    }
  }

  package var serverName = ""
  package var serverVersion = ""
  package var defaultSink: String?
  package var defaultSource: String?
  package var sinks: [Sink] = []
  package var sources: [Source] = []

  package init() {}

  package var devices: [PulseDevice] {
    let monitor = sinks.first { $0.name == defaultSink }?.monitor
    return sources.map { source in
      PulseDevice(
        name: source.name, description: source.description, kind: source.isMonitor ? .desktop : .microphone,
        isDefault: source.name == (source.isMonitor ? monitor : defaultSource))
    }
  }

  /// The device that `target` means now.
  package func device(for target: PulseTarget) throws(CaptureError) -> PulseDevice {
    switch target {
    case .desktop: try desktop()
    case .microphone: try microphone()
    case .device(let wanted): try device(wanted)
    }
  }

  private func desktop() throws(CaptureError) -> PulseDevice {
    if let device = devices.first(where: { $0.kind == .desktop && $0.isDefault }) { return device }
    throw .noSuchSource(
      "The sound server has no output whose sound could be cast. `pactl list short sinks` lists them; "
        + "`pactl load-module module-null-sink` makes one.")
  }

  /// Servers without an input name the monitor of an output as the default: who wants a microphone does not mean that,
  /// unless there are inputs and it was chosen before them.
  private func microphone() throws(CaptureError) -> PulseDevice {
    let devices = devices
    if devices.contains(where: { $0.kind == .microphone }),
      let device = devices.first(where: { $0.name == defaultSource })
    {
      return device
    }
    throw .noSuchSource(
      "The sound server has no microphone. `pactl list short sources` lists its inputs; --audio desktop casts what the "
        + "machine plays.")
  }

  private func device(_ wanted: String) throws(CaptureError) -> PulseDevice {
    let devices = devices
    if let device = devices.first(where: { $0.name == wanted }) { return device }
    if let monitor = sinks.first(where: { $0.name == wanted })?.monitor,
      let device = devices.first(where: { $0.name == monitor })
    {
      return device
    }
    if let device = devices.first(where: { $0.description == wanted }) { return device }
    let needle = wanted.lowercased()
    var found = devices.filter { !needle.isEmpty && $0.description.lowercased().contains(needle) }
    // An output's monitor has its output's description within its own: who names a headset means its microphone.
    let inputs = found.filter { $0.kind == .microphone }
    if inputs.count == 1 { found = inputs }
    if found.count == 1 { return found[0] }
    if found.isEmpty {
      throw .noSuchSource(
        "The sound server has no device '\(wanted)'. "
          + (devices.isEmpty ? "It has none at all." : "It has: \(Self.names(devices))."))
    }
    throw .noSuchSource("'\(wanted)' could be \(Self.names(found)). Name one of them in full.")
  }

  private static func names(_ devices: [PulseDevice]) -> String {
    devices.map { "\($0.name) (\($0.description))" }.joined(separator: ", ")
  }
}
