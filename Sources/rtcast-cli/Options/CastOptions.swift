import ArgumentParser
import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCSignaling
import RTCast

/// What every casting command takes.
struct CastOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Largest picture to send; larger ones are scaled down to fit.", valueName: "WxH"))
  var size: PictureSize?

  @Option(help: ArgumentHelp("Video codec: VP8.", valueName: "codec"))
  var codec: VideoCodec = .vp8

  @Option(
    help: ArgumentHelp(
      "What gives way first when bits are short: detail and text keep letters sharp, motion keeps the frame rate. \
      Default: by source.", valueName: "hint"))
  var contentHint: ContentHint?

  @Option(help: ArgumentHelp("Most to send to a viewer, in kbit/s (100 to 100000).", valueName: "kbit/s"))
  var bitrate: Int = 6_000

  @Option(help: ArgumentHelp("Publish to this WHIP service instead of serving viewers.", valueName: "https://…"))
  var to: String?

  @Option(help: ArgumentHelp("Where viewers connect; port 0 picks a free one.", valueName: "host:port"))
  var listen: String = "127.0.0.1:0"

  @Option(help: ArgumentHelp("Secret that viewers, or the WHIP service, want as bearer token.", valueName: "secret"))
  var token: String?

  @Flag(help: "One JSON object a line on standard output, and nothing else.")
  var json = false

  @Flag(help: "Print a statistics line every second even without a terminal.")
  var stats = false

  @Option(help: ArgumentHelp("Stop by itself after this many seconds.", valueName: "seconds"))
  var duration: Double?

  func validate() throws {
    guard (100...100_000).contains(bitrate) else {
      throw ValidationError("--bitrate is in kbit/s and must be between 100 and 100000.")
    }
    if let duration, !(duration > 0 && duration.isFinite) {
      throw ValidationError("--duration must be a positive number of seconds.")
    }
    if let to { _ = try Self.destination(to) }
    if to == nil { _ = try listenAddress() }
  }

  func listenAddress() throws -> ListenAddress {
    guard let address = ListenAddress(listen) else {
      throw ValidationError("--listen wants HOST:PORT, such as 127.0.0.1:8080 or [::1]:0, not '\(listen)'.")
    }
    return address
  }

  private static func destination(_ text: String) throws -> String {
    let lower = text.lowercased()
    guard lower.hasPrefix("http://") || lower.hasPrefix("https://") else {
      throw ValidationError("--to wants the URL of a WHIP service, http:// or https://, not '\(text)'.")
    }
    return text
  }

  /// The bitrate bounds of each viewer.
  var bitrateLimits: BitrateLimits { BitrateLimits(maximum: .kilobitsPerSecond(Int64(bitrate))) }
}
