import Glibc
import RTCast
import Testing

/// A folder that goes away with what is in it.
private final class Folder {
  let path: String
  private var files: [String] = []

  init() {
    var name = Array("/tmp/rtcast-presets-XXXXXX".utf8CString)
    path = String(cString: mkdtemp(&name))
  }

  deinit {
    for file in files { unlink("\(path)/\(file)") }
    rmdir(path)
  }

  func write(_ file: String, _ text: String) {
    files.append(file)
    let descriptor = open("\(path)/\(file)", O_CREAT | O_WRONLY | O_TRUNC, 0o600)
    _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
  }

  func makePipe(_ file: String) {
    files.append(file)
    mkfifo("\(path)/\(file)", 0o600)
  }
}

@Suite struct PresetFindingTests {
  private static let names = ["text", "slides", "motion", "file", "call", "low-bandwidth", "lan"]

  @Test(arguments: names) func `every preset that comes along is built in`(name: String) throws {
    let preset = try Preset.find(name, in: [])
    #expect(preset.title != nil && preset.description != nil)
    #expect(preset.frameRate != nil && preset.contentHint != nil)
  }

  @Test(arguments: names) func `the file of a preset and what is built in are the same`(name: String) throws {
    let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
    #expect(try Preset.find("\(root)/presets/\(name).json") == Preset.find(name, in: []), "run scripts/embed-presets")
  }

  @Test func `the names are known`() { #expect(Preset.builtInNames == Self.names) }

  @Test func `the first folder that has it counts`() throws {
    let (first, second) = (Folder(), Folder())
    second.write("mine.json", "{\"fps\": 2}")
    let path = [first.path, "/no/such/folder", second.path]
    #expect(try Preset.find("mine", in: path).frameRate == 2)
    first.write("mine.json", "{\"fps\": 1}")
    #expect(try Preset.find("mine", in: path).frameRate == 1)
    #expect(try Preset.find("\(second.path)/mine.json", in: path).frameRate == 2)
  }

  @Test func `a file in a folder takes no built-in name`() throws {
    let folder = Folder()
    folder.write("text.json", "{\"fps\": 2}")
    #expect(try Preset.find("text", in: [folder.path]) == Preset.find("text", in: []))
    #expect(try Preset.find("\(folder.path)/text.json", in: []).frameRate == 2)
  }

  @Test func `the working folder is not searched`() {
    #expect(Preset.searchPath.allSatisfy { $0.hasPrefix("/") })
  }

  @Test func `a broken file is an error, not passed over`() {
    let folder = Folder()
    folder.write("mine.json", "{\"fps\": }")
    let error = #expect(throws: PresetError.self) { try Preset.find("mine", in: [folder.path]) }
    #expect(error?.sentence.contains("\(folder.path)/mine.json") == true)
  }

  @Test func `an unknown name is answered with those there are`() {
    let error = #expect(throws: PresetError.self) { try Preset.find("no-such", in: ["presets"]) }
    #expect(error?.kind == .notFound)
    #expect(error?.sentence.contains("no preset no-such; there are text, slides, motion") == true)
  }

  @Test(arguments: ["", "..", "a b", "x\u{0}y", "ä"]) func `what can be no name is refused`(name: String) {
    #expect(throws: PresetError.self) { try Preset.find(name, in: ["presets"]) }
  }

  @Test func `folders, pipes, missing and huge files are refused with a sentence`() {
    let folder = Folder()
    folder.makePipe("pipe.json")
    folder.write("huge.json", String(repeating: " ", count: 70_000))
    for (path, kind) in [
      ("/no/such/file.json", PresetError.Kind.notFound), (folder.path + "/", .unreadable),
      (folder.path + "/pipe.json", .unreadable), (folder.path + "/huge.json", .unreadable),
    ] {
      let error = #expect(throws: PresetError.self) { try Preset.find(path) }
      #expect(error?.kind == kind)
      #expect(error?.sentence.contains(path) == true)
    }
  }
}
