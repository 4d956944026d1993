public import ArgumentParser
public import RTCCapture
import Logging
import RTCMedia

struct TestCommand: CastingCommand {
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
        rtcast test --pattern clock --tone 440
      """)

  @Option(help: ArgumentHelp("What to show.", valueName: "name"))
  var pattern: SyntheticPattern = .clock

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Frames a second, 0.1 to 240. (default: 30)", valueName: "n"),
    transform: { try FrameRate(parsing: $0) })
  var fps: FrameRate?

  @Option(
    help: ArgumentHelp("Size of the picture, 16x16 to 8192x8192. (default: 1280x720)", valueName: "WxH"),
    transform: { try PictureSize(parsing: $0) })
  var size: PictureSize?

  @Option(
    help: ArgumentHelp("Also play a tone of this frequency, 20 to 20000 Hz.", valueName: "hertz"),
    transform: { text in
      guard let value = Double(text), (20...20_000).contains(value) else {
        throw ValidationError("--tone is a frequency from 20 to 20000 Hz, not '\(text)'.")
      }
      return value
    })
  var tone: Double?

  @Option(help: ArgumentHelp("What the pictures are drawn from, a whole number.", valueName: "number"))
  var seed: UInt64 = 1

  @OptionGroup var cast: CastOptions

  func source(_ logger: Logger) -> CastRunner.Source {
    let capturer = SyntheticCapturer(pattern: pattern, seed: seed)
    let sound = tone.map { ToneSource(frequency: $0) }
    return CastRunner.Source(
      media: MediaSource(video: capturer, audio: sound), name: "test",
      frameRate: cast.frameRate(fps, otherwise: .motion),
      size: cast.largestPicture(size) ?? PixelSize(width: 1280, height: 720))
  }
}

extension SyntheticPattern: ExpressibleByArgument {}
