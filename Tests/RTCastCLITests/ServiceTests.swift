import Testing
import rtcast_cli

@Suite struct ServiceTests {
  private static func environment(_ variables: [String: String]) -> ServiceEnvironment {
    ServiceEnvironment(process: 42) { variables[$0] }
  }

  @Test func `a program that no service manager started has none`() {
    let environment = Self.environment([:])
    #expect(environment.notifySocket == nil && environment.watchdog == nil && environment.sockets.isEmpty)
  }

  @Test func `what the service manager says counts`() {
    let environment = Self.environment([
      "NOTIFY_SOCKET": "/run/systemd/notify", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42", "LISTEN_PID": "42",
      "LISTEN_FDS": "2",
    ])
    #expect(environment.notifySocket == "/run/systemd/notify")
    #expect(environment.watchdog == .seconds(30))
    #expect(environment.sockets == [3, 4])
    #expect(Self.environment(["NOTIFY_SOCKET": "@name"]).notifySocket == "@name")
    #expect(Self.environment(["WATCHDOG_USEC": "5"]).watchdog == .microseconds(5))
  }

  @Test func `what is meant for another process does not count`() {
    let environment = Self.environment([
      "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "41", "LISTEN_PID": "41", "LISTEN_FDS": "2",
    ])
    #expect(environment.watchdog == nil && environment.sockets.isEmpty)
    #expect(Self.environment(["LISTEN_FDS": "2"]).sockets.isEmpty)
  }

  @Test(arguments: ["", "-1", "0", "65", "9223372036854775807", "99999999999999999999", "two"])
  func `numbers that cannot be right are none`(number: String) {
    let environment = Self.environment([
      "NOTIFY_SOCKET": "relative", "WATCHDOG_USEC": number.hasPrefix("9") ? "99999999999999999999" : "-5",
      "LISTEN_PID": "42",
      "LISTEN_FDS": number,
    ])
    #expect(environment.notifySocket == nil && environment.watchdog == nil && environment.sockets.isEmpty)
  }

  @Test func `notices are lines as sd_notify has them`() {
    #expect(ServiceNotice.ready.text == "READY=1")
    #expect(ServiceNotice.reloading(time: 1_500).text == "RELOADING=1\nMONOTONIC_USEC=1500")
    #expect(ServiceNotice.stopping.text == "STOPPING=1")
    #expect(ServiceNotice.watchdog.text == "WATCHDOG=1")
    #expect(ServiceNotice.status("2 viewers.").text == "STATUS=2 viewers.")
  }

  @Test func `a line break in a status makes no other notice`() {
    let text = ServiceNotice.status("a\nREADY=1\r\nb").text
    #expect(!text.contains("\n") && !text.contains("\r") && text.hasPrefix("STATUS=a"))
  }

  @Test func `an entry of the journal has fields of its own`() {
    let entry = JournalEntry("A viewer left.", priority: 6, details: [("viewer", "ab12"), ("reason", "left")])
    let text = String(decoding: entry.bytes, as: UTF8.self)
    #expect(
      text == "MESSAGE=A viewer left.\nPRIORITY=6\nSYSLOG_IDENTIFIER=rtcast\nVIEWER=ab12\nREASON=left\n")
  }

  @Test func `no value and no name makes another field of the journal`() {
    let entry = JournalEntry(
      "a\nPRIORITY=0", priority: 4,
      details: [("message", "forged"), ("_pid", "1"), ("a b", "c"), ("ü", "d"), ("", "e"), ("stream", "x\ny")])
    let head = Array("MESSAGE\n".utf8) + [12, 0, 0, 0, 0, 0, 0, 0] + Array("a\nPRIORITY=0\n".utf8)
    let tail = Array("STREAM\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + Array("x\ny\n".utf8)
    #expect(entry.bytes == head + Array("PRIORITY=4\nSYSLOG_IDENTIFIER=rtcast\n".utf8) + tail)
  }
}
