import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct RenditionRouterTests {
  private static let file = Rendition(1)
  private static let h264 = VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=42e01f")
  private static let high = VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=640028")

  /// A file passed through, and an encoder.
  private struct Bench {
    var router = RenditionRouter<String>(
      renditions: [RenditionFormat(file, h264), RenditionFormat(.encoded, .vp8)], preferred: file)

    mutating func add(_ viewer: String, _ formats: [VideoPayloadFormat] = [.vp8, h264], colors: Bool = true) {
      router.add(viewer, formats: formats, understandsColorSpace: colors)
    }

    mutating func demand() -> RenditionDemand { router.demand(now: .zero) }

    mutating func need(_ viewer: String) -> Rendition? { router.keyFrameNeeded(by: viewer, .request, now: .zero) }

    mutating func send(_ rendition: Rendition, key: Bool = false) -> [String] {
      var source = SyntheticVideo()
      source.needsKeyFrame = key
      source.rendition = rendition
      var receivers: [String] = []
      _ = router.route(source.next(.zero), now: .zero, into: &receivers)
      return receivers
    }

    /// A viewer needs a key frame, and the source answers. Whom it was asked for, in order.
    mutating func need(_ viewer: String, _ answer: (Rendition) -> KeyFrameAnswer) -> [Rendition] {
      var asked: [Rendition] = []
      while let next = asked.isEmpty ? router.keyFrameNeeded(by: viewer, .request, now: .zero) : pending {
        asked.append(next)
        pending = router.take(answer(next), of: next, for: viewer)
      }
      return asked
    }
    private var pending: Rendition?
  }

  @Test func `without renditions everybody gets what is encoded`() {
    var bench = Bench()
    bench.router = RenditionRouter()
    bench.add("a", [])
    #expect(bench.send(.encoded) == ["a"] && bench.send(Self.file, key: true) == [])
    #expect(bench.need("a") == .encoded && bench.need("b") == nil)
  }

  @Test func `viewers begin on the preferred rendition or one they can take`() {
    var bench = Bench()
    bench.add("a")
    bench.add("b", [.vp8])
    bench.add("c", [VideoPayloadFormat(codec: .av1)])
    #expect(bench.send(Self.file) == ["a"] && bench.send(.encoded) == ["b"])
    #expect(bench.demand().renditions == [Self.file, .encoded] && bench.demand().unservedViewers == 1)
    #expect(bench.need("c") == nil)
  }

  @Test func `turned pictures are for those who turn them`() {
    var bench = Bench()
    bench.router = RenditionRouter(
      renditions: [RenditionFormat(Self.file, Self.h264, isTurned: true), RenditionFormat(.encoded, .vp8)],
      preferred: Self.file)
    bench.router.add("a", formats: [.vp8, Self.h264], understandsColorSpace: true, turnsPictures: true)
    bench.router.add("b", formats: [.vp8, Self.h264], understandsColorSpace: true, turnsPictures: false)
    bench.router.add("c", formats: [Self.h264], understandsColorSpace: true, turnsPictures: false)
    #expect(bench.send(Self.file, key: true) == ["a"] && bench.send(.encoded, key: true) == ["b"])
    #expect(bench.demand().unservedViewers == 1)
  }

  @Test func `a viewer that is sent away stays until the key frame comes`() {
    var bench = Bench()
    bench.add("a")
    let asked = bench.need("a") { $0 == Self.file ? .move(to: .encoded) : .coming }
    #expect(asked == [Self.file, .encoded])
    #expect(bench.send(Self.file) == ["a"] && bench.send(.encoded) == [])
    #expect(bench.demand().renditions == [Self.file, .encoded])
    #expect(bench.send(.encoded, key: true) == ["a"])
    #expect(bench.send(Self.file) == [] && bench.send(.encoded) == ["a"])
    #expect(bench.demand().renditions == [.encoded])
  }

  @Test func `the key frame that was missing keeps a viewer where it is`() {
    var bench = Bench()
    bench.add("a")
    _ = bench.need("a") { $0 == Self.file ? .move(to: .encoded) : .coming }
    #expect(bench.send(Self.file, key: true) == ["a"])
    #expect(bench.demand().renditions == [Self.file])
    #expect(bench.send(.encoded, key: true) == [])
  }

  @Test func `viewers come back with the next key frame of the preferred`() {
    var bench = Bench()
    bench.add("a")
    bench.add("b", [.vp8])
    _ = bench.need("a") { $0 == Self.file ? .move(to: .encoded) : .coming }
    _ = bench.send(.encoded, key: true)
    #expect(bench.send(.encoded) == ["a", "b"])
    #expect(bench.send(Self.file, key: true) == ["a"])
    #expect(bench.send(.encoded, key: true) == ["b"])
  }

  @Test func `a viewer is not sent where it cannot go`() {
    var bench = Bench()
    bench.add("a", [Self.h264])
    #expect(bench.need("a") { _ in .move(to: .encoded) } == [Self.file])
    #expect(bench.send(Self.file) == ["a"] && bench.send(.encoded, key: true) == [])
    bench.add("b", [.vp8])
    #expect(bench.need("b") { _ in .coming } == [.encoded])
    #expect(bench.need("b") { _ in .move(to: Self.file) } == [.encoded])
  }

  @Test func `a request of a viewer on its way goes where it goes`() {
    var bench = Bench()
    bench.add("a")
    _ = bench.need("a") { $0 == Self.file ? .move(to: .encoded) : .coming }
    #expect(bench.need("a") == .encoded)
  }

  @Test func `another source moves those whose rendition is no more`() {
    var bench = Bench()
    bench.add("a")
    bench.add("b", [.vp8])
    let asked = bench.router.setRenditions([RenditionFormat(.encoded, .vp8)], preferred: nil)
    #expect(asked == [.encoded])
    #expect(bench.send(Self.file, key: true) == [] && bench.send(.encoded) == ["b"])
    #expect(bench.send(.encoded, key: true) == ["a", "b"])
    // Back again: nobody is asked, those who can go over do so by themselves.
    let again = bench.router.setRenditions(
      [RenditionFormat(Rendition(2), Self.h264), RenditionFormat(.encoded, .vp8)], preferred: Rendition(2))
    #expect(again.isEmpty && bench.send(.encoded) == ["a", "b"])
    #expect(bench.send(Rendition(2), key: true) == ["a"])
  }

  @Test func `profiles count`() {
    var bench = Bench()
    bench.router = RenditionRouter(
      renditions: [RenditionFormat(Self.file, Self.high), RenditionFormat(.encoded, .vp8)], preferred: Self.file)
    bench.add("baseline", [.vp8, Self.h264])
    bench.add("predictive", [.vp8, VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=f4001f")])
    #expect(bench.send(Self.file) == ["predictive"])
  }

  @Test func `who does not understand colors is known`() {
    var bench = Bench()
    bench.add("a", [.vp8], colors: false)
    bench.add("b")
    #expect(bench.demand().withoutColorSpace == [.encoded])
    bench.router.remove("a")
    #expect(bench.demand().withoutColorSpace == [] && bench.demand().renditions == [Self.file])
  }
}
