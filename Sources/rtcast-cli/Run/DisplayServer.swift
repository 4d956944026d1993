import ArgumentParser
import RTCMedia

/// The X server of `rtcast run`.
package enum DisplayServer: String, CaseIterable, ExpressibleByArgument, Sendable {
  case xvfb
  case xorgDummy = "xorg-dummy"
  case tigervnc

  /// The name of its program.
  var program: String {
    switch self {
    case .xvfb: "Xvfb"
    case .xorgDummy: "Xorg"
    case .tigervnc: "Xvnc"
    }
  }

  /// The advice for a person on whose machine its program is missing.
  var advice: String {
    switch self {
    case .xvfb: "Install \(Distribution.advice(for: .virtualDisplay)), or choose another with --display-server."
    case .xorgDummy:
      "Install Xorg and its driver dummy (on Debian xserver-xorg-core and xserver-xorg-video-dummy), or leave out "
        + "--display-server."
    case .tigervnc:
      "Install TigerVNC's server (on Debian tigervnc-standalone-server), or leave out --display-server."
    }
  }

  /// The words of its command line. It chooses a free display number and writes it to a descriptor, and asks its clients
  /// for the key in the folder.
  func arguments(size: PixelSize, folder: RunFolder, number descriptor: Int32) -> [String] {
    let all = ["-displayfd", "\(descriptor)", "-auth", folder.key, "-nolisten", "tcp", "-noreset"]
    switch self {
    case .xvfb: return [program, "-screen", "0", "\(size.width)x\(size.height)x24"] + all
    case .tigervnc:
      // No port: its viewers have no place here.
      return [program, "-geometry", "\(size.width)x\(size.height)", "-depth", "24", "-rfbport", "-1"]
        + ["-SecurityTypes", "None"] + all
    case .xorgDummy:
      return [program, "-config", folder.displayConfiguration, "-logfile", folder.path + "/Xorg.log", "-novtswitch"]
        + all
    }
  }

  /// The content of a configuration file that it needs; nil: none.
  func configuration(size: PixelSize) -> String? {
    guard self == .xorgDummy else { return nil }
    // No CRTC of the driver scans out, so that any clock will do that the driver allows.
    let (width, height) = (size.width, size.height)
    let line = [width, width + 8, width + 16, width + 32, height, height + 2, height + 4, height + 8]
    let clock = Double((width + 32) * (height + 8)) * 30 / 1e6
    return """
      Section "Device"
        Identifier "device"
        Driver "dummy"
        VideoRam \(max(16_384, width * height * 4 / 1024 * 2))
      EndSection
      Section "Monitor"
        Identifier "monitor"
        HorizSync 1.0-2000.0
        VertRefresh 1.0-200.0
        Modeline "\(width)x\(height)" \(clock) \(line.map(String.init).joined(separator: " "))
      EndSection
      Section "Screen"
        Identifier "screen"
        Device "device"
        Monitor "monitor"
        DefaultDepth 24
        SubSection "Display"
          Depth 24
          Modes "\(width)x\(height)"
          Virtual \(width) \(height)
        EndSubSection
      EndSection
      Section "ServerFlags"
        Option "AutoAddDevices" "false"
        Option "AutoAddGPU" "false"
        Option "DontVTSwitch" "true"
      EndSection

      """
  }
}
