import Glibc
import RTCWindow
import Testing

/// OpenGL is tried only where a card may draw it.
@Suite struct GraphicsCardTests {
  @Test(arguments: ["dri", "nvidiactl", "dxg"])
  func `a machine has a graphics card when a driver has left its device file`(_ device: String) throws {
    let folder = try Self.makeFolder()
    defer {
      rmdir("\(folder)/\(device)")
      rmdir(folder)
    }
    mkdir("\(folder)/null", 0o700)
    #expect(!GraphicsCard.mayExist(folder: folder))
    rmdir("\(folder)/null")
    mkdir("\(folder)/\(device)", 0o700)
    #expect(GraphicsCard.mayExist(folder: folder))
  }

  private static func makeFolder() throws -> String {
    var name = Array("/tmp/rtcast-devices-XXXXXX".utf8CString)
    let isMade = mkdtemp(&name) != nil
    try #require(isMade)
    return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  @Test func `a folder that is not there has no device files`() {
    #expect(!GraphicsCard.mayExist(folder: "/nonexistent/dev"))
  }
}
