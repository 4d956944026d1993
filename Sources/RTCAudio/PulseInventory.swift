package import RTCMedia

/// The sound that a `PulseAudioSource` captures.
public enum PulseTarget: Hashable, Sendable {
  /// The sound of the default output; follows when another becomes the default.
  case desktop
  /// The default input; follows when another becomes the default.
  case microphone
  /// One device, by its name, its description or a part of that, as `PulseDevices` lists them. Waited for when it goes.
  case device(String)
  /// The sound of one program, by its name, a part of that, or its process identifier, as `PulseDevices` lists them.
  /// Waited for while it plays nothing. What is heard on the machine does not change.
  case program(String)
}

/// A device that sound can be captured from.
public struct PulseDevice: Hashable, Sendable {
  /// The kind of a device.
  public enum Kind: String, Hashable, Sendable {
    /// The sound that an output plays.
    case desktop
    /// An input.
    case microphone
  }

  /// As `PulseTarget.device` takes it.
  public var name: String
  /// For people.
  public var description: String
  /// The kind of the device.
  public var kind: Kind
  /// Whether it is the present `PulseTarget.desktop` or `.microphone`.
  public var isDefault: Bool
  /// An input of the server's echo canceller: a microphone without what its output plays.
  public var cancelsEcho: Bool

  /// A device as the server lists it.
  public init(name: String, description: String, kind: Kind, isDefault: Bool, cancelsEcho: Bool = false) {
    self.name = name
    self.description = description
    self.kind = kind
    self.isDefault = isDefault
    self.cancelsEcho = cancelsEcho
  }
}

/// The devices of a sound server at one moment.
package struct PulseInventory: Hashable, Sendable {
  package struct Sink: Hashable, Sendable {
    package var name: String
    package var description: String
    package var monitor: String?
    package var echoFilter: EchoFilter?
    /// The server's number of it.
    package var index: UInt32

    package init(
      name: String, description: String? = nil, monitor: String?, echoFilter: EchoFilter? = nil, index: UInt32 = 0
    ) {
      self.index = index
      self.name = name
      self.description = description ?? name
      self.monitor = monitor
      self.echoFilter = echoFilter
    }
  }

  package struct Source: Hashable, Sendable {
    package var name: String
    package var description: String
    package var isMonitor: Bool
    package var echoFilter: EchoFilter?

    package init(name: String, description: String, isMonitor: Bool, echoFilter: EchoFilter? = nil) {
      self.name = name
      self.description = description
      self.isMonitor = isMonitor
      self.echoFilter = echoFilter
    }
  }

  /// The properties of an echo canceller's device in front of a real one.
  package struct EchoFilter: Hashable, Sendable {
    /// The name of the real device; nil when the server does not say.
    package var master: String?

    package init(master: String?) { self.master = master }
  }

  /// A stream that a program plays.
  package struct Stream: Hashable, Sendable {
    /// The server's number of it.
    package var index: UInt32
    /// The number of the output that plays it.
    package var sink: UInt32
    /// The program's name, for people.
    package var name: String
    /// The names of the program's file and its icon, and its identifier.
    package var otherNames: [String]
    package var process: String?

    package init(index: UInt32, sink: UInt32, name: String, otherNames: [String] = [], process: String? = nil) {
      (self.index, self.sink, self.name) = (index, sink, name)
      (self.otherNames, self.process) = (otherNames, process)
    }
  }

  package var serverName = ""
  package var serverVersion = ""
  package var defaultSink: String?
  package var defaultSource: String?
  package var sinks: [Sink] = []
  package var sources: [Source] = []
  package var streams: [Stream] = []

  package init() {}

  package var devices: [PulseDevice] {
    let monitor = sinks.first { $0.name == defaultSink }?.monitor
    return sources.map { source in
      PulseDevice(
        name: source.name, description: source.description, kind: source.isMonitor ? .desktop : .microphone,
        isDefault: source.name == (source.isMonitor ? monitor : defaultSource),
        cancelsEcho: source.echoFilter != nil && !source.isMonitor)
    }
  }

  /// The device that `target` means now.
  ///
  /// - Parameter cancelsEcho: takes the echo canceller of the default microphone in its place, where there is one.
  package func device(for target: PulseTarget, cancelsEcho: Bool = false) throws(CaptureError) -> PulseDevice {
    switch target {
    case .desktop: try desktop()
    case .microphone: try cancelsEcho ? echoCanceller(of: microphone()) : microphone()
    case .device(let wanted): try device(wanted)
    case .program(let name): throw .noSuchSource("\(name) is a program and no device.")
    }
  }

  /// The streams of the program that `wanted` means: in full before a part of its name.
  package func streams(of wanted: String) -> [Stream] {
    let needle = wanted.lowercased()
    let exact = streams.filter { stream in
      stream.process == wanted || ([stream.name] + stream.otherNames).contains { $0.lowercased() == needle }
    }
    guard exact.isEmpty, !needle.isEmpty else { return exact }
    return streams.filter { $0.name.lowercased().contains(needle) }
  }

  private func desktop() throws(CaptureError) -> PulseDevice {
    if let device = devices.first(where: { $0.kind == .desktop && $0.isDefault }) { return device }
    throw .noSuchSource(
      "The sound server has no output whose sound could be cast. `pactl list short sinks` lists them; "
        + "`pactl load-module module-null-sink` makes one.")
  }

  /// Servers without an input name the monitor of an output as the default. A user who wants a microphone does not mean
  /// that, unless there are inputs and it was chosen before them.
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

  private func echoCanceller(of microphone: PulseDevice) -> PulseDevice {
    let filter = sources.first { !$0.isMonitor && $0.echoFilter?.master == microphone.name }
    return devices.first { $0.name == filter?.name } ?? microphone
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
    // The description of an output's monitor contains the output's: a user who names a headset means its microphone.
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

/// An output for received sound.
struct PulseOutput: Hashable, Sendable {
  var name: String
  /// For people.
  var description: String
  /// An output of the server's echo canceller.
  var cancelsEcho: Bool
  /// Whether the server's echo cancellation has outputs of its own, and cancels only the sound played there.
  var hasEchoCanceller: Bool
}

extension PulseInventory {
  /// The name of the output to use: the one that `wanted` names or describes, else the echo canceller of the default
  /// one. Nil for the server's choice.
  package func output(_ wanted: String?) throws(CaptureError) -> String? {
    guard let wanted else {
      if sinks.isEmpty {
        throw .noSuchSource(
          "The sound server has no output. `pactl list short sinks` lists them; plug one in, or make one by "
            + "`pactl load-module module-null-sink`.")
      }
      return sinks.first { $0.echoFilter?.master == defaultSink && defaultSink != nil }?.name
    }
    if let sink = sinks.first(where: { $0.name == wanted || $0.description == wanted }) { return sink.name }
    let needle = wanted.lowercased()
    let found = sinks.filter { !needle.isEmpty && $0.description.lowercased().contains(needle) }
    if found.count == 1 { return found[0].name }
    let names = (found.isEmpty ? sinks : found).map { "\($0.name) (\($0.description))" }.joined(separator: ", ")
    if found.isEmpty {
      throw .noSuchSource(
        "The sound server has no output '\(wanted)'. "
          + (sinks.isEmpty ? "It has none at all." : "It has: \(names)."))
    }
    throw .noSuchSource("'\(wanted)' could be \(names). Name one of them in full.")
  }

  func output(named name: String) -> PulseOutput {
    let sink = sinks.first { $0.name == name }
    return PulseOutput(
      name: name, description: sink?.description ?? name, cancelsEcho: sink?.echoFilter != nil,
      hasEchoCanceller: sinks.contains { $0.echoFilter != nil })
  }
}
