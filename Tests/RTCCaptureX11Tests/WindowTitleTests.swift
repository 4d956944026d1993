import RTCCaptureX11
import RTCMedia
import Testing
import XvfbKit

extension X11CaptureTests {
  @Suite struct WindowTitleTests {
    private static let place = PixelRect(x: 0, y: 0, width: 32, height: 32)

    private static func titles(_ display: XvfbDisplay) throws -> [String] {
      try X11Screens.list(display: display.name).windows.map(\.title)
    }

    /// As `Xutf8TextListToTextProperty` of libX11 writes them.
    private static let compound: [(String, String)] = [
      ("Grüße", "4772fcdf65"), ("Привет", "1b2d4cbfe0d8d2d5e2"), ("Ελληνικά", "1b2d46c5ebebe7ede9eadc"),
      ("日本語 テキスト", "1b242842467c4b5c386c1b2842201b2428422546252d25392548"),
      ("한국어 창", "1b242843475131393e6e1b2842201b2428434322"), ("中文窗口", "1b24284243664a386359387d"),
      ("שלום", "1b2547d7a9d79cd795d79d1b2540"), ("Ünïcode €", "dc6eef636f6465201b2d62a4"),
      ("𝄞 emoji 😀", "1b2547f09d849e1b254020656d6f6a69201b2547f09f98801b2540"),
      ("Łódź ｱｲｳ ¥", "1b2d42a31b2d41f3641b2d42bc201b2949b1b2b3201b2d41a5"),
      // An extended segment (16 bytes: "koi8-r", STX, text), and a direction around Hebrew of ISO 8859-8.
      ("Мир и мир", "1b252f3180906b6f69382d7202edc9d220c920cdc9d2"),
      ("a שב b", "61209b325d1b2d48f9e19b5d2062"),
    ]

    @Test(arguments: compound) func `compound text reads right`(title: String, hex: String) throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      client.setTitle(Self.bytes(hex), type: "COMPOUND_TEXT", of: client.window(Self.place))
      #expect(try Self.titles(display) == [title])
    }

    @Test func `each type of title reads as it is meant, and the newer property counts`() throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let window = client.window(Self.place)
      client.setTitle([0x43, 0x61, 0x66, 0xE9], type: "STRING", of: window)
      #expect(try Self.titles(display) == ["Café"])
      // Clients that know no better.
      client.setTitle(Array("Café ☕".utf8), type: "STRING", of: window)
      #expect(try Self.titles(display) == ["Café ☕"])
      client.setTitle(Array("日本語".utf8), type: "UTF8_STRING", of: window)
      #expect(try Self.titles(display) == ["日本語"])
      client.setTitle([0x61, 0xFF, 0x62], type: "UTF8_STRING", of: window)
      #expect(try Self.titles(display) == ["a\u{FFFD}b"])
      client.setTitle(Array("Neuer Titel – ja".utf8), property: "_NET_WM_NAME", type: "UTF8_STRING", of: window)
      #expect(try Self.titles(display) == ["Neuer Titel – ja"])
    }

    @Test func `a title that is cut in the middle of a character ends before it`() throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let window = client.window(Self.place)
      client.setTitle(Array(("x" + String(repeating: "語", count: 500)).utf8), type: "UTF8_STRING", of: window)
      #expect(try Self.titles(display) == ["x" + String(repeating: "語", count: 341)])
    }

    @Test func `whatever bytes a title has, the list is there`() throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let window = client.window(Self.place)
      var random = SystemRandomNumberGenerator()
      let telling: [UInt8] = [0x1B, 0x24, 0x28, 0x29, 0x25, 0x2F, 0x2D, 0x47, 0x41, 0x80, 0x9B, 0x02, 0xA4]
      for round in 0..<300 {
        let bytes = (0..<Int.random(in: 1...60, using: &random)).map { _ in
          Bool.random(using: &random)
            ? telling.randomElement(using: &random)! : UInt8.random(in: 1...255, using: &random)
        }
        client.setTitle(bytes, type: round % 2 == 0 ? "COMPOUND_TEXT" : "STRING", of: window)
        #expect(try X11Screens.list(display: display.name).display == display.name, "\(bytes)")
      }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
      stride(from: 0, to: hex.count, by: 2).compactMap { offset in
        UInt8(hex.dropFirst(offset).prefix(2), radix: 16)
      }
    }
  }
}
