import RTCMedia
import Testing
import rtcast_cli

/// The lines that `rtcast` without arguments prints on a terminal.
@Suite struct OverviewTests {
  private func words(_ overview: Overview, columns: Int = 80) -> [String] {
    overview.lines(columns: columns).map { $0.text + $0.command }
  }

  @Test func `it fits ten lines of eighty letters, whatever answers and whatever does not`() {
    var refused = Overview()
    refused.screens = .failure(.unavailable("none"))
    refused.cameras = .failure(.notPermitted("no"))
    refused.sound = .failure(.unavailable("none"))
    for overview in [Overview(), refused] {
      let lines = words(overview)
      #expect(lines.count <= 10 && lines.allSatisfy { $0.count <= 80 }, "\(lines)")
    }
  }

  @Test(arguments: [20, 40, 200]) func `a command is never cut`(columns: Int) {
    #expect(words(Overview(), columns: columns).contains { $0.hasSuffix("rtcast screen --audio desktop") })
  }

  @Test func `a session of Wayland without an X display can cast other things`() {
    var overview = Overview()
    overview.screens = .failure(.unavailable("none"))
    overview.isWayland = true
    overview.capturesWayland = false
    let lines = words(overview)
    #expect(lines.contains { $0.contains("Wayland") } && lines.contains { $0.hasSuffix("rtcast file talk.mp4") })
    overview.capturesWayland = true
    #expect(words(overview).contains { $0.contains("Wayland desktop") && $0.hasSuffix("rtcast screen") })
  }
}
