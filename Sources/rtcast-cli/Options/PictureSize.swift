import ArgumentParser
import RTCMedia

/// `--size WxH`.
struct PictureSize: ExpressibleByArgument {
  var size: PixelSize

  init(_ size: PixelSize) { self.size = size }

  init?(argument: String) {
    let parts = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]),
      (16...8192).contains(width), (16...8192).contains(height)
    else { return nil }
    size = PixelSize(width: width, height: height)
  }

  var defaultValueDescription: String { size.description }
}

/// `--region WxH+X+Y`.
struct ScreenRegion: ExpressibleByArgument {
  var rect: PixelRect

  init?(argument: String) {
    let parts = argument.lowercased().split(separator: "+", omittingEmptySubsequences: false)
    guard parts.count == 3, let size = PictureSize(argument: String(parts[0])), let x = Int(parts[1]),
      let y = Int(parts[2]), x >= 0, y >= 0
    else { return nil }
    rect = PixelRect(x: x, y: y, width: size.size.width, height: size.size.height)
  }
}

extension ContentHint: ExpressibleByArgument {}
extension VideoCodec: ExpressibleByArgument {
  public init?(argument: String) { self.init(rawValue: argument.uppercased()) }
}
