public import ArgumentParser
public import RTCCapture
import Logging
import RTCMedia

struct TestCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Cast a test picture; no screen or camera needed.",
    discussion: """
      Patterns: bars (colour bars with one moving block), clock (hands, frame number and time, also as a bar code), \
      noise (every pixel changes: the worst case), gradient (smooth and moving), scroll-text (a scrolling page of text).

      Examples:
        rtcast test
        rtcast test --pattern scroll-text --size 1920x1080 --fps 5
        rtcast test --pattern clock --tone 440
      """)

  @OptionGroup(title: "Test picture") var picture: TestOptions
  @OptionGroup var cast: CastOptions

  func source(_ logger: Logger) -> CastRunner.Source {
    Self.source(picture.pattern, seed: picture.seed, tone: picture.tone, cast.media)
  }

  static func source(
    _ pattern: SyntheticPattern, seed: UInt64, tone: Double? = nil, _ media: MediaOptions
  ) -> CastRunner.Source {
    CastRunner.Source(
      media: MediaSource(
        video: SyntheticCapturer(pattern: pattern, seed: seed), audio: tone.map { ToneSource(frequency: $0) }),
      name: "test", frameRate: media.frameRate(otherwise: .motion),
      size: media.maximumSize ?? PixelSize(width: 1280, height: 720))
  }
}

/// The test picture and tone.
struct TestOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Pattern to draw.", valueName: "name"))
  var pattern: SyntheticPattern = .clock

  @Option(
    help: ArgumentHelp("Also play a tone of this frequency, 20 to 20000 Hz.", valueName: "hertz"),
    transform: { text in
      guard let value = Double(text), (20...20_000).contains(value) else {
        throw ValidationError("--tone takes a frequency from 20 to 20000 Hz, not '\(text)'.")
      }
      return value
    })
  var tone: Double?

  @Option(
    help: ArgumentHelp(
      "Whole number that noise and text are drawn from; the same seed draws the same pictures.", valueName: "number"))
  var seed: UInt64 = 1
}

extension SyntheticPattern: ExpressibleByArgument {}
