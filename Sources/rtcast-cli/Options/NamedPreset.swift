import RTCast

/// A preset, and how the command line names it.
struct NamedPreset: Sendable {
  let name: String
  let preset: Preset

  init(_ nameOrPath: String) throws { (name, preset) = (nameOrPath, try MediaOptions.preset(nameOrPath)) }
}
