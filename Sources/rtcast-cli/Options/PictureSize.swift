import ArgumentParser
package import RTCMedia

/// `--size WxH`.
package struct PictureSize: CustomStringConvertible {
  package let size: PixelSize

  init(width: Int, height: Int) { size = PixelSize(width: width, height: height) }

  package init(parsing text: String, option: String = "--size") throws {
    guard let size = PixelSize(parsing: text) else {
      throw ValidationError("\(option) takes WIDTHxHEIGHT, each from 16 to 8192, such as 1280x720.")
    }
    self.size = size
  }

  package var description: String { size.description }
}

/// `--region WxH+X+Y`, in pixels of the screen from its top left corner.
package struct ScreenRegion {
  package let rect: PixelRect

  package init(parsing text: String) throws {
    let parts = text.split(separator: "+", omittingEmptySubsequences: false)
    guard parts.count == 3, let size = PixelSize(parsing: parts[0]), let x = Int(parts[1]), let y = Int(parts[2]),
      (0...32767).contains(x), (0...32767).contains(y)
    else {
      throw ValidationError(
        "--region takes WIDTHxHEIGHT+X+Y, 16x16 or larger and inside the screen, such as 800x600+100+50.")
    }
    rect = PixelRect(x: x, y: y, width: size.width, height: size.height)
  }
}

extension PixelSize {
  fileprivate init?(parsing text: some StringProtocol) {
    let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]), (16...8192).contains(width),
      (16...8192).contains(height)
    else { return nil }
    self.init(width: width, height: height)
  }
}
