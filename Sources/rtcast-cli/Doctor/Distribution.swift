/// The Linux distribution of this machine, as far as the names of packages differ.
package enum Distribution: String, CaseIterable, Sendable {
  case debian, ubuntu, fedora, arch, suse

  /// A part that may be missing.
  package enum Part: CaseIterable, Sendable {
    case ffmpeg, soundServer, pulseAudio, virtualDisplay, vpxHeaders
  }

  /// Creates a distribution; nil if its packages are not known here.
  /// - Parameter text: the content of the file `os-release` (os-release(5)).
  package init?(osRelease text: String) {
    var names: [String] = []
    for key in ["ID", "ID_LIKE"] {
      guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix(key + "=") }) else { continue }
      let value = line.dropFirst(key.count + 1).filter { !"\"'".contains($0) }
      names += value.split(separator: " ").map { $0.lowercased() }
    }
    let known = names.lazy.compactMap { name in
      name.hasPrefix("opensuse") ? .suse : Distribution(rawValue: name)
    }
    guard let first = known.first else { return nil }
    self = first
  }

  /// The distribution of this machine; nil if it is not known.
  package static var current: Distribution? {
    ["/etc/os-release", "/usr/lib/os-release"].lazy.compactMap(ProcFile.text).first.flatMap {
      Distribution(osRelease: $0)
    }
  }

  /// The command that installs a part.
  package func command(for part: Part) -> String { "\(installer) \(package(of: part))" }

  /// The command that installs a part on this machine; if its distribution is not known, the name of the part.
  package static func advice(for part: Part, on distribution: Distribution? = current) -> String {
    distribution.map { "`\($0.command(for: part))`" } ?? part.name
  }

  private var installer: String {
    switch self {
    case .debian, .ubuntu: "apt install"
    case .fedora: "dnf install"
    case .arch: "pacman -S"
    case .suse: "zypper install"
    }
  }

  private func package(of part: Part) -> String {
    switch (part, self) {
    case (.ffmpeg, .fedora): "ffmpeg-free"
    case (.ffmpeg, _): "ffmpeg"
    case (.soundServer, .debian): "pulseaudio"
    case (.soundServer, .ubuntu), (.soundServer, .arch): "pipewire-pulse"
    case (.soundServer, .fedora), (.soundServer, .suse): "pipewire-pulseaudio"
    case (.pulseAudio, _): "pulseaudio"
    case (.virtualDisplay, .debian), (.virtualDisplay, .ubuntu): "xvfb"
    case (.virtualDisplay, .fedora), (.virtualDisplay, .suse): "xorg-x11-server-Xvfb"
    case (.virtualDisplay, .arch): "xorg-server-xvfb"
    case (.vpxHeaders, .debian), (.vpxHeaders, .ubuntu): "libvpx-dev"
    case (.vpxHeaders, .fedora), (.vpxHeaders, .suse): "libvpx-devel"
    case (.vpxHeaders, .arch): "libvpx"
    }
  }
}

extension Distribution.Part {
  fileprivate var name: String {
    switch self {
    case .ffmpeg: "FFmpeg"
    case .soundServer: "PulseAudio or pipewire-pulse"
    case .pulseAudio: "PulseAudio"
    case .virtualDisplay: "Xvfb"
    case .vpxHeaders: "the headers of libvpx"
    }
  }
}
