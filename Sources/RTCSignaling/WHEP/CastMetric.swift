/// A figure of a cast for Prometheus, in the text format, version 0.0.4.
public struct CastMetric: Sendable, Hashable {
  /// The kind of a figure.
  public enum Kind: String, Sendable {
    /// It rises and falls.
    case gauge
    /// It rises, and begins at zero with the program.
    case counter
  }

  /// One value, with or without a label.
  public struct Sample: Sendable, Hashable {
    var label: String
    var value: String

    /// A value without a label.
    public init(_ value: some BinaryInteger) { self.init("", "\(value)") }

    /// A value without a label.
    public init(_ value: Double) { self.init("", "\(value)") }

    /// - Parameters:
    ///   - label: the label's name.
    ///   - text: its value: a word of this program.
    public init(_ value: some BinaryInteger, _ label: String, _ text: String) {
      self.init("{\(label)=\"\(text)\"}", "\(value)")
    }

    private init(_ label: String, _ value: String) { (self.label, self.value) = (label, value) }
  }

  var name: String
  var kind: Kind
  var help: String
  var samples: [Sample]

  /// Makes a figure.
  public init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
  }

  /// Makes a figure with one value.
  public init(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
    self.init(name, kind, help, [Sample(value)])
  }

  var prometheus: String {
    "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
      + samples.map { "\(name)\($0.label) \($0.value)\n" }.joined()
  }
}

extension CastStatus {
  /// The figures of every server.
  var metrics: [CastMetric] {
    [
      CastMetric("rtcast_live", .gauge, "Whether the cast or hub is running.", isLive ? 1 : 0),
      CastMetric("rtcast_viewers", .gauge, "Viewers that are connected.", viewers),
      CastMetric("rtcast_streams", .gauge, "Streams with a name that are published to a hub.", streams.count),
    ]
  }
}
