import RTCPrimitives
import RTCast
import Testing

@Suite struct PictureForecastTests {
  private func at(_ milliseconds: Int64) -> Timestamp { .zero + .milliseconds(milliseconds) }

  @Test func `a source that announces nothing has no next picture`() {
    var forecast = PictureForecast()
    #expect(forecast.nextPicture(now: at(0)) == nil && forecast.lapse(now: at(0)) == nil)
    forecast.notePicture(now: at(0))
    forecast.notePicture(now: at(200))
    #expect(forecast.nextPicture(now: at(210)) == nil && forecast.lapse(now: at(210)) == nil)
  }

  @Test func `an announced picture is awaited until shortly after its time`() {
    var forecast = PictureForecast()
    forecast.notePicture(now: at(0))
    forecast.announce(at(200), now: at(33))
    #expect(forecast.nextPicture(now: at(34)) == at(210))
    #expect(forecast.lapse(now: at(34)) == nil)
    #expect(forecast.nextPicture(now: at(209)) == at(210))
    #expect(forecast.nextPicture(now: at(210)) == nil, "the change was beside the picture")
  }

  @Test func `after an announced picture the next is expected until its announcement is overdue`() {
    var forecast = PictureForecast()
    forecast.notePicture(now: at(0))
    forecast.announce(at(200), now: at(30))
    forecast.notePicture(now: at(200))
    // 30 ms, a half of them more, and 5.
    #expect(forecast.nextPicture(now: at(201)) == at(400))
    #expect(forecast.lapse(now: at(201)) == at(250))
    #expect(forecast.nextPicture(now: at(249)) == at(400))
    #expect(forecast.nextPicture(now: at(250)) == nil && forecast.lapse(now: at(250)) == nil)
  }

  @Test func `after a picture that was not announced none is expected`() {
    var forecast = PictureForecast()
    forecast.notePicture(now: at(0))
    forecast.announce(at(200), now: at(30))
    forecast.notePicture(now: at(200))
    forecast.notePicture(now: at(900))
    #expect(forecast.nextPicture(now: at(901)) == nil)
  }

  @Test func `a change that comes long after a picture makes no movement`() {
    var forecast = PictureForecast()
    forecast.notePicture(now: at(0))
    forecast.announce(at(200), now: at(150))
    #expect(forecast.nextPicture(now: at(160)) == at(210))
    forecast.notePicture(now: at(200))
    #expect(forecast.nextPicture(now: at(201)) == nil)
  }

  @Test func `an announcement that is put off is awaited until later and says nothing new of the source`() {
    var forecast = PictureForecast()
    forecast.notePicture(now: at(0))
    forecast.announce(at(200), now: at(30))
    forecast.announce(at(230), now: at(199))
    #expect(forecast.nextPicture(now: at(215)) == at(240))
    forecast.notePicture(now: at(230))
    #expect(forecast.lapse(now: at(231)) == at(280))
  }
}
