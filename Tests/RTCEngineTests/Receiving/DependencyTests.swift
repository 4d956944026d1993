import RTCEngine
import RTCMedia
import RTCPrimitives
import Testing

@Suite struct PictureDependencies {
  private typealias Receiver = VideoReceiver

  @Test func `a lost picture of an upper layer is done without when repair fails`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp8(key: true, base: 250))
    receiver.take(12, frame: 2, payload: Receiver.vp8(base: 251))  // 11 was of layer 1
    #expect(receiver.shown == [0])
    receiver.failRepair()
    #expect(receiver.shown == [0, 2] && !receiver.stream.needsKeyFrame)
    receiver.take(13, frame: 3, payload: Receiver.vp8(base: 251, layer: 1))
    #expect(receiver.shown == [0, 2, 3])
  }

  @Test func `a lost picture of the lowest layer needs a key frame`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp8(key: true, base: 255))
    receiver.take(12, frame: 2, payload: Receiver.vp8(base: 1))  // 11 was number 0 of the lowest layer
    receiver.failRepair()
    #expect(receiver.shown == [0] && receiver.stream.needsKeyFrame)
    receiver.take(13, frame: 3, payload: Receiver.vp8(base: 1, layer: 1, isSync: true))
    #expect(receiver.shown == [0])
    receiver.take(14, frame: 4, payload: Receiver.vp8(key: true, base: 2))
    #expect(receiver.shown == [0, 4])
  }

  @Test func `a picture lost before a forwarder, which numbers anew, is missed all the same`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp8(key: true, base: 7))
    receiver.take(11, frame: 1, payload: Receiver.vp8(base: 8))
    receiver.take(12, frame: 3, payload: Receiver.vp8(base: 10))
    #expect(receiver.shown == [0, 1])
    #expect(receiver.stream.keyFrameWantedAt == receiver.now)
  }

  @Test func `an upper layer goes on at a point of synchronisation only`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp8(key: true, base: 7))
    receiver.take(12, frame: 2, payload: Receiver.vp8(base: 7, layer: 2))
    receiver.take(13, frame: 3, payload: Receiver.vp8(base: 7, layer: 1, isSync: true))
    receiver.failRepair()
    #expect(receiver.shown == [0, 3])
  }

  @Test func `behind a gap even the next picture of an upper layer may need what is missing`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp8(key: true, base: 7))
    receiver.take(12, frame: 2, payload: Receiver.vp8(base: 7, layer: 3, isSync: true))
    receiver.failRepair()
    receiver.take(13, frame: 3, payload: Receiver.vp8(base: 7, layer: 2))
    #expect(receiver.shown == [0, 2] && !receiver.stream.needsKeyFrame)
    receiver.take(14, frame: 4, payload: Receiver.vp8(base: 8))
    receiver.take(15, frame: 5, payload: Receiver.vp8(base: 8, layer: 2))
    #expect(receiver.shown == [0, 2, 4, 5])
  }

  @Test func `where only upper layers are missing the next picture of the lowest is waited for`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp8(key: true, base: 7))
    receiver.take(12, frame: 2, payload: Receiver.vp8(base: 7, layer: 2))
    receiver.failRepair()
    #expect(receiver.shown == [0] && !receiver.stream.needsKeyFrame)
    receiver.take(13, frame: 3, payload: Receiver.vp8(base: 8))
    #expect(receiver.shown == [0, 3])
  }

  @Test func `where nothing but upper layers comes a key frame is asked for in the end`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp8(key: true, base: 7))
    receiver.take(12, frame: 2, payload: Receiver.vp8(base: 7, layer: 2))
    receiver.failRepair()
    for frame in 3..<50 { receiver.take(10 + frame, frame: frame, payload: Receiver.vp8(base: 7, layer: 2)) }
    #expect(receiver.shown == [0] && receiver.stream.needsKeyFrame)
  }

  @Test func `that upper layers of VP9 may begin with a picture does not say that it needs nothing of its own`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp9(layer: 0, base: 7, isKey: true), codec: .vp9)
    receiver.take(12, frame: 3, payload: Receiver.vp9(layer: 2, base: 7), codec: .vp9)  // 11 was of layer 1
    receiver.take(13, frame: 4, payload: Receiver.vp9(layer: 0, base: 8), codec: .vp9)
    receiver.take(14, frame: 5, payload: Receiver.vp9(layer: 2, base: 8), codec: .vp9)
    receiver.failRepair()
    #expect(receiver.shown == [0, 4, 5] && !receiver.stream.needsKeyFrame)
  }

  @Test func `VP9 that names what it needs is decoded when that is there`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp9(0x7FFF, needs: []), codec: .vp9)
    receiver.take(12, frame: 2, payload: Receiver.vp9(1, needs: [2]), codec: .vp9)  // 11 was number 0
    receiver.failRepair()
    #expect(receiver.shown == [0, 2])
    receiver.take(13, frame: 3, payload: Receiver.vp9(2, needs: [1, 2]), codec: .vp9)
    #expect(receiver.shown == [0, 2] && receiver.stream.needsKeyFrame)
  }

  @Test func `another codec begins with a key frame`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp8(key: true))
    receiver.take(11, frame: 1, payload: Receiver.vp9(5, needs: [1]), codec: .vp9)
    #expect(receiver.shown == [0] && receiver.stream.needsKeyFrame)
    receiver.take(12, frame: 2, payload: Receiver.vp9(6, needs: []), codec: .vp9)
    #expect(receiver.shown == [0, 2] && receiver.frames.last?.codec == .vp9)
  }

  @Test func `the packets of one picture are of one codec`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Receiver.vp8(key: true), isLast: false)
    receiver.take(11, frame: 0, payload: Receiver.vp9(5, needs: [1]), codec: .vp9)
    #expect(receiver.frames.isEmpty)
  }

  // MARK: - H.264

  private static let sequence: [UInt8] = [0x67, 0x42, 0xE0, 0x1F, 0x8C]
  private static let idr: [UInt8] = [0x65, 0x88, 1, 2]
  private static let slice: [UInt8] = [0x41, 0x9A, 1, 2]

  @Test func `parameter sets before a picture that needs others make no key frame`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Self.sequence, isLast: false, codec: .h264)
    receiver.take(11, frame: 0, payload: Self.slice, codec: .h264)
    #expect(receiver.frames.isEmpty && receiver.stream.needsKeyFrame)
    receiver.take(12, frame: 1, payload: Self.sequence, isLast: false, codec: .h264)
    receiver.take(13, frame: 1, payload: Self.idr, codec: .h264)
    receiver.take(14, frame: 2, payload: Self.sequence, isLast: false, codec: .h264)
    receiver.take(15, frame: 2, payload: Self.slice, codec: .h264)
    #expect(receiver.shown == [1, 2])
    #expect(receiver.frames.map(\.isKeyFrame) == [true, false])
  }

  @Test func `a later key frame needs no parameter sets of its own`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Self.idr, codec: .h264)
    #expect(receiver.frames.isEmpty)
    receiver.take(11, frame: 1, payload: Self.sequence, isLast: false, codec: .h264)
    receiver.take(12, frame: 1, payload: Self.idr, codec: .h264)
    receiver.take(14, frame: 3, payload: Self.slice, codec: .h264)
    receiver.take(15, frame: 4, payload: Self.idr, isLast: false, codec: .h264)
    receiver.take(16, frame: 4, payload: Self.idr, codec: .h264)
    #expect(receiver.shown == [1, 4])
    #expect(receiver.frames.last?.data == [0, 0, 0, 1] + Self.idr + [0, 0, 0, 1] + Self.idr)
  }

  @Test func `a key frame whose parameter sets are still on their way is not torn from them`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, payload: Self.sequence, isLast: false, codec: .h264)
    receiver.take(11, frame: 0, payload: Self.idr, codec: .h264)
    receiver.take(13, frame: 2, payload: Self.slice, codec: .h264)
    receiver.take(15, frame: 3, payload: Self.idr, codec: .h264)  // 14 are its parameter sets
    #expect(receiver.shown == [0])
    receiver.take(14, frame: 3, payload: Self.sequence, isLast: false, isRepair: true, codec: .h264)
    #expect(receiver.shown == [0, 3])
    #expect(receiver.frames.last?.data.starts(with: [0, 0, 0, 1] + Self.sequence) == true)
  }

  // MARK: - Header extensions

  @Test func `what header extensions say stays until they say otherwise`() {
    var receiver = Receiver(first: 10)
    var turned = VideoExtensions()
    turned.rotation = .clockwise90
    turned.colorSpace = .bt709Limited
    receiver.take(10, frame: 0, payload: Receiver.vp8(key: true), extensions: turned)
    receiver.take(11, frame: 1, payload: Receiver.vp8())
    receiver.take(12, frame: 2, payload: Receiver.vp8(key: true))
    #expect(receiver.frames.map(\.rotation) == [.clockwise90, .clockwise90, .clockwise90])
    #expect(receiver.frames.map(\.colorSpace) == [.bt709Limited, .bt709Limited, nil])
  }
}
