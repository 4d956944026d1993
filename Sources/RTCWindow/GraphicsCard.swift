import Glibc

/// The card by which OpenGL would draw.
package enum GraphicsCard {
  /// The device files of graphics drivers: the kernel's own, NVIDIA's, Windows' below Linux, and those of small boards.
  private static let devices = ["dri", "nvidiactl", "dxg", "mali0", "kgsl-3d0"]

  /// False when this machine has none for sure. OpenGL then could only be imitated, and to find that out by trying takes
  /// both cores of a small machine for some hundred milliseconds, just when a call begins.
  ///
  /// - Parameter folder: where the device files are.
  package static func mayExist(folder: String = "/dev") -> Bool {
    devices.contains { access("\(folder)/\($0)", F_OK) == 0 }
  }
}
