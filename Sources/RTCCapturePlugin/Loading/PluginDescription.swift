public import RTCMedia

/// The description of a plugin, before it is started.
public struct PluginDescription: Hashable, Sendable {
  /// A word, such as `waves`.
  public var name: String
  /// A sentence; empty when the plugin has none.
  public var summary: String
  /// A line for each option; empty when there are none.
  public var optionsHelp: String
  /// True when it makes pictures.
  public var hasPictures: Bool
  /// True when it makes sound.
  public var hasSound: Bool
  /// Keep letters sharp and let frames go first.
  public var isScreencast: Bool
  /// The default size; nil if only its pictures show it.
  public var size: PixelSize?
  /// Frames a second it makes unless asked for fewer; nil when unknown.
  public var frameRate: Double?

  package init(
    name: String, summary: String = "", optionsHelp: String = "", hasPictures: Bool, hasSound: Bool,
    isScreencast: Bool = false, size: PixelSize? = nil, frameRate: Double? = nil
  ) {
    self.name = name
    self.summary = summary
    self.optionsHelp = optionsHelp
    self.hasPictures = hasPictures
    self.hasSound = hasSound
    self.isScreencast = isScreencast
    self.size = size
    self.frameRate = frameRate
  }
}

/// How a plugin is to run.
public struct PluginSettings: Sendable {
  /// `key=value` for the plugin, in order.
  public var options: [(key: String, value: String)] = []
  /// The size to ask it for; nil leaves it to the plugin.
  public var size: PixelSize?
  /// The most frames a second that are taken, above 0; pictures beyond it are answered with "busy".
  public var frameRate: Double

  /// Without arguments: no options, the plugin's own size, at most 30 frames a second.
  public init(options: [(key: String, value: String)] = [], size: PixelSize? = nil, frameRate: Double = 30) {
    self.options = options
    self.size = size
    self.frameRate = frameRate
  }
}

/// The format requested from a plugin, or announced by it.
package struct PluginFormat: Hashable, Sendable {
  package var size: PixelSize?
  package var frameRate: Double
  var sound = AudioFormat.opus
}
