import RTCCaptureX11
import RTCMedia
import Testing
import rtcast_cli

/// The lines that `rtcast` without arguments prints on a terminal.
@Suite struct OverviewTests {
  private func words(_ overview: Overview, columns: Int = 80) -> [String] {
    overview.lines(columns: columns).map { $0.text + $0.command }
  }

  @Test func `it fits ten lines of eighty letters, whatever was found`() {
    var full = Overview()
    full.screens = .success(
      X11Screens(
        display: ":0", size: PixelSize(width: 15_360, height: 8_640),
        monitors: (0..<4).map { number in
          X11Monitor(
            index: number, name: "HDMI-\(number)", rect: PixelRect(x: 0, y: 0, width: 10, height: 10), isPrimary: false)
        },
        windows: (1...1_000).map { number in
          X11Window(
            id: UInt32(number), title: "W", rect: PixelRect(x: 0, y: 0, width: 10, height: 10),
            isMapped: number % 2 == 0)
        }))
    full.cameras = .failure(.notPermitted("no"))
    for overview in [Overview(), full] {
      let lines = words(overview)
      #expect(lines.count <= 10 && lines.allSatisfy { $0.count <= 80 }, "\(lines)")
    }
    #expect(words(full).contains { $0.contains("500") && $0.hasSuffix("rtcast screen --pick") })
    #expect(words(full).contains { $0.contains("15360x8640, 4 monitors") })
  }

  @Test(arguments: [20, 40, 200]) func `a command is never cut`(columns: Int) {
    #expect(words(Overview(), columns: columns).contains { $0.hasSuffix("rtcast screen --audio desktop") })
  }

  @Test func `a session of Wayland without an X display can cast other things`() {
    var overview = Overview()
    overview.screens = .failure(.unavailable("none"))
    overview.isWayland = true
    let lines = words(overview)
    #expect(lines.contains { $0.contains("Wayland") } && lines.contains { $0.hasSuffix("rtcast file talk.mp4") })
  }
}
