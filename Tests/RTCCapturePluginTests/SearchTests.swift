import Glibc
import RTCCapturePlugin
import RTCMedia
import Testing

@Suite(.serialized) struct SearchTests {
  @Test func `libraries are found by name in the order of the folders`() throws {
    let folder = try PluginWorkshop.folder() + "/search"
    mkdir(folder, 0o755)
    defer { rmdir(folder) }
    let names = ["libzebra.so", "ant.so", "lib.so", "readme.txt"]
    for name in names { _ = try PluginWorkshop.file("search/" + name, []) }
    defer { for name in names { unlink(folder + "/" + name) } }
    let search = PluginSearch(path: "/nowhere:\(folder)")
    #expect(search.plugins().map(\.name) == ["ant", "zebra"])
    #expect(try search.path(of: "zebra") == folder + "/libzebra.so")
    #expect(try search.path(of: "./other.so") == "./other.so")
  }

  @Test func `a name that is not found says where it was looked for`() {
    #expect {
      try PluginSearch(path: "/nowhere").path(of: "waves")
    } throws: {
      ($0 as? CaptureError)?.sentence.contains("/nowhere") == true
    }
    #expect {
      try PluginSearch(path: "").path(of: "waves")
    } throws: {
      ($0 as? CaptureError)?.sentence.contains("RTCAST_PLUGIN_PATH") == true
    }
  }
}
