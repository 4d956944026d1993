public import ArgumentParser
public import RTCCapture
import RTCMedia

struct TestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Cast a test picture; no screen needed.",
    discussion: """
      Patterns: bars (colour bars with one moving block), clock (hands, frame number and time, also as a bar code), \
      noise (every pixel new: the worst case), gradient (smooth and moving), scroll-text (a page of letters). The same \
      seed draws the same pictures.

      Examples:
        rtcast test
        rtcast test --pattern scroll-text --size 1920x1080 --fps 5
      """)

  @Option(help: ArgumentHelp("What to show.", valueName: "name"))
  var pattern: SyntheticPattern = .clock

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Frames a second, 0.1 to 240. (default: 30)", valueName: "n"),
    transform: { try FrameRate(parsing: $0) })
  var fps: FrameRate = .motion

  @Option(
    help: ArgumentHelp("Size of the picture, 16x16 to 8192x8192. (default: 1280x720)", valueName: "WxH"),
    transform: { try PictureSize(parsing: $0) })
  var size = PictureSize(width: 1280, height: 720)

  @Option(help: ArgumentHelp("What the pictures are drawn from, a whole number.", valueName: "number"))
  var seed: UInt64 = 1

  @OptionGroup var cast: CastOptions

  func run() async throws {
    try await CastRunner(cast).run { _ in
      CastRunner.Source(
        capturer: SyntheticCapturer(pattern: pattern, seed: seed), name: "test", frameRate: fps.value, size: size.size)
    }
  }
}

extension SyntheticPattern: ExpressibleByArgument {}
