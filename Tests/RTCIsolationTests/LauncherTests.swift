import Glibc
import ProcessKit
import RTCIsolation
import Testing

struct LauncherTests {
  @Test func `a confined program gets what its launcher was told of and no more`() throws {
    let folder = try #require(Self.folder())
    defer { Self.remove(folder) }
    let kept = open(folder + "/kept.mkv", O_WRONLY | O_CREAT, 0o600)
    close(kept)
    let outcome = try TestProcess([Self.probe, "launcher", folder], errors: .withOutput).outcome()
    #expect(
      outcome.text.split(separator: "\n") == [
        "confined: whole", "left: ", "opened: false", "child: child named launcher",
        "ended: ended its process with status 7", "ended: was killed (signal 9; out of memory?)",
        "hung: was killed (signal 9; out of memory?)", "stranger: true", "talk.mkv: written",
        "talk.mkv: \(EEXIST)", "talk-2.mkv: written", "talk-x.mkv: \(EACCES)", "other.mkv: \(EACCES)",
        "talk-2.mkv/../other.mkv: \(EACCES)",
      ])
    #expect(outcome.status == 0)
    #expect(Self.exists(folder + "/talk.mkv") && Self.exists(folder + "/kept.mkv"))
    #expect(!Self.exists(folder + "/talk-2.mkv"))
  }

  @Test func `a recording goes on in numbered files of its name`() {
    let output = LauncherDuties.Output(path: "a/talk.mkv", flags: 0, mode: 0, isNumbered: true)
    for path in ["a/talk.mkv", "a/talk-2.mkv", "a/talk-1001.mkv"] { #expect(output.covers(path)) }
    for path in [
      "talk.mkv", "b/talk-2.mkv", "a/talk-.mkv", "a/talk-2.mp4", "a/talk--2.mkv", "a/talk-2/x.mkv",
      "a/talk-1234567.mkv",
      "a/talk-٣.mkv", "a/talk-2.mkv.mkv", "a/talk-mkv", "",
    ] { #expect(!output.covers(path), "\(path)") }
    let single = LauncherDuties.Output(path: "a/rates.jsonl", flags: 0, mode: 0)
    #expect(single.covers("a/rates.jsonl") && !single.covers("a/rates-2.jsonl"))
    let series = LauncherDuties.Output(path: "a/talk.mkv", flags: 0, mode: 0, isSeries: true)
    #expect(series.covers("a/talk-0001.mkv") && !series.covers("a/talk.mkv"))
  }

  @Test func `the newest of numbered files is found among others`() throws {
    let folder = try #require(Self.folder())
    let names = [
      "talk-0003.mkv", "talk-0012.mkv", "talk-0099.webm", "talk-x.mkv", "talk-1234567.mkv", "talks-0044.mkv",
    ]
    defer {
      for name in names { unlink("\(folder)/\(name)") }
      rmdir(folder)
    }
    let files = try #require(NumberedFiles(following: folder + "/talk.mkv"))
    #expect(files.newest == 0)
    for name in names { close(open("\(folder)/\(name)", O_WRONLY | O_CREAT, 0o600)) }
    #expect(files.newest == 12)
    #expect(NumberedFiles(following: "/no/such/folder/talk.mkv")?.newest == 0)
    #expect(NumberedFiles(following: "talk") == nil)
  }

  @Test func `the file with keys is the named one, else the newest of this user that is not empty`() throws {
    let folder = try #require(Self.folder())
    defer {
      for name in ["named", "xauth_a", "xauth_b", "xauth_lock", "other"] { unlink("\(folder)/\(name)") }
      rmdir(folder)
    }
    func write(_ name: String, _ text: String, changed: Int) {
      let file = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      _ = Glibc.write(file, text, text.utf8.count)
      let time = timespec(tv_sec: changed, tv_nsec: 0)
      futimens(file, [time, time])
      close(file)
    }
    let choice = FileChoice(
      first: folder + "/named",
      others: [
        FileChoice.Pattern(folder: folder + "/none", beginning: ""),
        FileChoice.Pattern(folder: folder, beginning: "xauth_"),
      ])
    func chosen() -> String? {
      let file = choice.open()
      guard file >= 0 else { return nil }
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: 100)
      let count = read(file, &bytes, 100)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
    #expect(chosen() == nil)
    write("other", "other", changed: 4_000)
    write("xauth_lock", "", changed: 3_000)
    #expect(chosen() == nil)
    write("xauth_a", "a", changed: 2_000)
    write("xauth_b", "b", changed: 1_000)
    #expect(chosen() == "a")
    write("xauth_b", "new", changed: 2_500)
    #expect(chosen() == "new")
    write("named", "named", changed: 500)
    #expect(chosen() == "named")
    unlink(folder + "/named")
    mkdir(folder + "/named", 0o700)
    #expect(chosen() == "new", "a folder is no file")
    rmdir(folder + "/named")
  }

  /// The program beside the one that runs the tests.
  private static let probe: String = {
    let path = realpath("/proc/self/exe", nil)
    defer { free(path) }
    let program = path.map { String(cString: $0) } ?? ""
    return program[..<(program.lastIndex(of: "/") ?? program.endIndex)] + "/PluginHostProbe"
  }()

  private static func folder() -> String? {
    var template = Array("/tmp/launcher-XXXXXX".utf8CString)
    return mkdtemp(&template).map { String(cString: $0) }
  }

  private static func remove(_ folder: String) {
    for name in ["talk.mkv", "talk-2.mkv", "kept.mkv", "other.mkv", "talk-x.mkv"] { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
