import RTCMedia
import RTCPrimitives
import RTCast
import Testing

/// The bitrate of a recording that nobody watches: no network limits it.
@Suite struct RecordedRateTests {
  private func target(_ hint: ContentHint) throws -> BitRate? {
    let video = try RunningVideo(
      settings: EncodingSettings(
        contentHint: hint, startBitrate: .kilobitsPerSecond(500),
        bitrates: .kilobitsPerSecond(100)...(.megabitsPerSecond(7))))
    defer { video.stop() }
    return video.outgoing.rungs().first?.target
  }

  @Test(arguments: [ContentHint.detail, .text]) func `a recorded screen has the highest rate`(hint: ContentHint) throws
  {
    #expect(try target(hint) == .megabitsPerSecond(7))
  }

  @Test func `a recorded film has the rate that casts begin with`() throws {
    #expect(try target(.motion) == .kilobitsPerSecond(500))
  }
}
