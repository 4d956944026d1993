import RTCCaptureCamera
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

/// H.264 of a camera: what is sent as it is, what is decoded, and what is left out.
@Suite struct CameraH264Tests {
  private static let sequenceSet: [UInt8] = [
    0x67, 0x42, 0xC0, 0x1F, 0xD9, 0x00, 0x50, 0x05, 0xBB, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00, 0x03,
    0x03, 0xC0, 0xF1, 0x83, 0x24, 0x80,
  ]
  private static let pictureSet: [UInt8] = [0x68, 0xCB, 0x83, 0xCB, 0x20]
  private static let parameterSets = annexB([sequenceSet, pictureSet])
  private static let key = annexB([[9, 0xF0], sequenceSet, pictureSet, [0x65, 0x88, 1, 2]])
  private static let delta = annexB([[9, 0xF0], [0x41, 0x9A, 3, 4]])

  private static func annexB(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

  private let decoder = CountingDecoder()

  private func machine() -> CameraH264 {
    let decoder = decoder
    return CameraH264 { () throws(VideoDecoderError) in decoder }
  }

  @Test func `pictures are sent from the first key frame on, without delimiters`() {
    var camera = machine()
    #expect(camera.take(Self.delta, 0) == .nothing)
    #expect(!camera.isKnown && camera.format == nil)
    guard case .key(let data) = camera.take(Self.key, 1) else { Issue.record("no key frame"); return }
    #expect(data == Self.annexB([Self.sequenceSet, Self.pictureSet]) + [0, 0, 1, 0x65, 0x88, 1, 2])
    #expect(camera.isKnown && camera.format?.size == PixelSize(width: 1280, height: 720))
    #expect(camera.format?.parameters.contains("profile-level-id=42e01f") == true)
    #expect(camera.take(Self.delta, 2) == .delta)
  }

  @Test func `parameter sets may come by themselves`() {
    var camera = machine()
    #expect(camera.take(Self.parameterSets, 0) == .nothing)
    let bare = Self.annexB([[0x65, 0x88, 1, 2]])
    guard case .key(let data) = camera.take(bare, 1) else { Issue.record("no key frame"); return }
    #expect(data.starts(with: Self.parameterSets))
    #expect(camera.take(Self.parameterSets, 2) == .nothing)
    #expect(camera.take(Self.delta, 3) == .delta)
  }

  @Test func `after a lost or damaged picture nothing is sent until the next key frame`() {
    for hurt: (inout CameraH264) -> Taken in [
      { $0.take([], 2) }, { $0.take([0x17, 0x17, 0x17], 2) }, { $0.take(Self.delta, 3) },
    ] {
      var camera = machine()
      _ = camera.take(Self.key, 1)
      #expect([.damaged, .nothing].contains(hurt(&camera)))
      #expect(camera.take(Self.delta, 4) == .nothing)
      guard case .key = camera.take(Self.key, 5) else { Issue.record("no key frame"); return }
      #expect(camera.take(Self.delta, 6) == .delta)
    }
  }

  @Test func `a camera that does not count its pictures loses none`() {
    var camera = machine()
    _ = camera.take(Self.key, 0)
    #expect(camera.take(Self.delta, 0) == .delta)
    #expect(camera.take(Self.delta, 0) == .delta)
  }

  @Test func `pictures that refer to later ones are not sent as they are`() {
    var camera = machine()
    _ = camera.take(Self.key, 0)
    #expect(camera.refusal == nil)
    _ = camera.take(Self.annexB([[0x01, 0b1010_0000, 0]]), 1)
    #expect(camera.refusal?.contains("B-frames") == true)
    #expect(camera.format == nil)
  }

  @Test
  func `while nobody wants it nothing is decoded, and then all since the last key frame, of which the newest is shown`()
  {
    var camera = machine()
    _ = camera.take(Self.key, 0)
    for number in 1...5 { _ = camera.take(Self.delta, UInt32(number)) }
    _ = camera.take(Self.key, 6)
    for number in 7...9 { _ = camera.take(Self.delta, UInt32(number)) }
    #expect(!camera.isDue(isWanted: false) && decoder.count == 0)
    var shown: [Int] = []
    while camera.isDue(isWanted: true) {
      if case .picture = camera.decode(isWanted: true) { shown.append(decoder.count) }
    }
    #expect(decoder.count == 4 && shown == [4])
  }

  @Test func `what waits is bounded: behind that it is decoded though nobody wants it`() {
    var camera = machine()
    _ = camera.take(Self.key, 0)
    for number in 1...1000 {
      _ = camera.take(Self.delta, UInt32(number))
      while camera.isDue(isWanted: false) {
        if case .picture = camera.decode(isWanted: false) { Issue.record("nobody wants it") }
      }
    }
    #expect(decoder.count == 1001 - 300)
  }

  @Test func `a picture that cannot be decoded is followed by the next key frame`() {
    var camera = machine()
    _ = camera.take(Self.key, 0)
    _ = camera.take(Self.delta, 1)
    decoder.fail()
    guard case .damaged = camera.decode(isWanted: true) else { Issue.record("not damaged"); return }
    #expect(!camera.isDue(isWanted: true))
    #expect(camera.take(Self.delta, 2) == .delta, "viewers who take it as it is see for themselves")
    #expect(!camera.isDue(isWanted: true))
    _ = camera.take(Self.key, 3)
    #expect(camera.isDue(isWanted: true))
  }

  @Test func `the next key frame is due as long after the last as that was after the one before`() {
    func at(_ milliseconds: Int64) -> Timestamp { .zero + .milliseconds(milliseconds) }
    var pace = KeyFramePace()
    #expect(pace.timeToNext(at(0)) == nil)
    pace.note(at(0))
    #expect(pace.timeToNext(at(500)) == nil)
    pace.note(at(1000))
    #expect(pace.timeToNext(at(1400)) == .milliseconds(600))
    #expect(pace.timeToNext(at(2200)) == .zero)
    #expect(pace.timeToNext(at(2600)) == nil, "it does not come")
  }
}

/// The result of a buffer, for comparison.
private enum Taken: Equatable {
  case key([UInt8])
  case delta, nothing, damaged
}

extension CameraH264 {
  fileprivate mutating func take(_ bytes: [UInt8], _ number: UInt32) -> Taken {
    switch take(bytes.span, number: number, at: .zero) {
    case .picture(let picture): picture.isKeyFrame ? .key(picture.data) : .delta
    case .nothing: .nothing
    case .damaged: .damaged
    }
  }
}

/// Counts what it is given; shows one grey pixel.
private final class CountingDecoder: VideoDecoder, Sendable {
  private let state = Mutex((count: 0, fails: false))
  let codec = VideoCodec.h264

  var count: Int { state.withLock { $0.count } }
  func fail() { state.withLock { $0.fails = true } }

  func decode(_ data: [UInt8]) throws(VideoDecoderError) -> PixelBuffer? {
    let fails = state.withLock { state in
      state.count += 1
      return state.fails
    }
    if fails { throw .library(status: -1) }
    return PixelBuffer.allocate(format: .i420, size: PixelSize(width: 2, height: 2)) { _, _, _ in }
  }
}
