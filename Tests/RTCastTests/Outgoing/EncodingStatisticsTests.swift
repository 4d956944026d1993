import RTCast
import Testing

@Suite struct `What one encoder came to` {
  @Test func `the figures of an interval survive two encoders that change places`() {
    var (old, new) = (EncodingStatistics(), EncodingStatistics())
    (old.framesCaptured, old.framesEncoded) = (100, 90)
    (new.framesCaptured, new.framesEncoded) = (103, 97)
    #expect(new.frames(since: old).captured == 3 && new.frames(since: old).encoded == 7)
    let none = old.frames(since: new)
    #expect(none.captured == 0 && none.encoded == 0, "the other has made fewer")
  }
}
