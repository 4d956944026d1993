import CLinux
import Glibc
import RTCIsolation
import RTCMedia
import RTCPrimitives
import RTCast
import Synchronization
import Testing

/// B9: what others send is decoded in a process without rights.
@Suite(.serialized) struct DecodingTests {
  @Test(arguments: DecoderStage.codecs)
  func `B9: pictures from the process are those that are decoded here`(_ codec: VideoCodec) throws {
    let stage = DecoderStage()
    let (isolated, own) = (try stage.factory(codec)(), try CodecRegistry.decoder(of: codec, in: OwnDecoderMemory()))
    for (number, data) in try DecoderStage.clip(codec, count: 12).enumerated() {
      let (shown, expected) = (try #require(try isolated.decode(data)), try #require(try own.decode(data)))
      #expect(shown.size == expected.size && shown.format == expected.format)
      #expect(shown.samples == expected.samples, "picture \(number)")
      #expect(isolated.colorSpace == own.colorSpace)
    }
    #expect(stage.sentences == [])
  }

  /// FFmpeg's AV1 (dav1d) alone takes memory of its own: its pictures are copied once.
  @Test(arguments: DecoderStage.codecs.filter { $0 != .av1 })
  func `B9: pictures are decoded where they are shared`(_ codec: VideoCodec) throws {
    let memory = NotedMemory()
    let decoder = try CodecRegistry.decoder(of: codec, in: memory)
    for data in try DecoderStage.clip(codec, count: 4) {
      let picture = try #require(try decoder.decode(data))
      for plane in 0..<3 { #expect(memory.contains(UInt(bitPattern: picture.unsafePlane(plane).base))) }
    }
  }

  @Test func `B9: a picture larger than a message arrives whole`() throws {
    let size = PixelSize(width: 1920, height: 1080)
    let data = try #require(try DecoderStage.clip(.vp8, count: 1, size: size).first)
    // Beyond one message.
    #expect(data.count > 2 * DecoderCommand.mostPayload)
    let (isolated, own) = (
      try DecoderStage().factory(.vp8)(), try CodecRegistry.decoder(of: .vp8, in: OwnDecoderMemory())
    )
    #expect(try isolated.decode(data)?.samples == own.decode(data)?.samples)
  }

  @Test func `B9: the process can do nothing but decode`() throws {
    #expect(try DecoderStage().decoders.check() == Confinement(error: 0, rightsLeft: []))
    let stage = DecoderStage("try")
    let (decoder, clip) = (try stage.factory(.vp8)(), try DecoderStage.clip(.vp8, count: 3))
    for data in clip.prefix(2) { #expect(try decoder.decode(data) != nil) }
    // Each attempt that succeeds is a bit.
    #expect(throws: VideoDecoderError.library(status: 0)) { try decoder.decode(clip[2]) }
    #expect(access("/tmp/rtcast-escape", F_OK) != 0)
  }

  @Test(arguments: [("crash", "signal 11"), ("overwrite", "signal 11"), ("leave", "status 3")])
  func `B9: an end in the middle of a picture costs that picture and one sentence`(_ how: String, _ cause: String)
    throws
  {
    let stage = DecoderStage(how)
    let (factory, clip) = (stage.factory(.vp8), try DecoderStage.clip(.vp8, count: 3))
    let decoder = try factory()
    let first = try #require(try decoder.decode(clip[0]))
    let samples = first.samples
    #expect(try decoder.decode(clip[1]) != nil)
    let error = #expect(throws: VideoDecoderError.self) { try decoder.decode(clip[2]) }
    guard case .processLost(let sentence) = error else { Issue.record("\(String(describing: error))"); return }
    #expect(stage.sentences == [sentence] && sentence.contains(cause))
    #expect(throws: VideoDecoderError.self) { try decoder.decode(clip[0]) }
    // The picture outlives the process that decoded it, and a new process goes on from a key frame.
    #expect(first.samples == samples)
    #expect(try factory().decode(clip[0])?.samples == samples)
  }

  @Test func `B9: a process that hangs is ended`() throws {
    let stage = DecoderStage("hang", picturePatience: .milliseconds(500))
    let (decoder, clip) = (try stage.factory(.vp8)(), try DecoderStage.clip(.vp8, count: 3))
    for data in clip.prefix(2) { #expect(try decoder.decode(data) != nil) }
    #expect(throws: VideoDecoderError.self) { try decoder.decode(clip[2]) }
    #expect(stage.sentences.count == 1 && stage.sentences[0].contains("did not answer"))
    // The next one was started already; the one that hung is gone, so there is one child.
    #expect(try children() == 1)
    withExtendedLifetime(stage) {}
  }

  @Test func `B9: with its decoder the process ends`() throws {
    var (stage, clip) = (DecoderStage() as DecoderStage?, try DecoderStage.clip(.vp8, count: 1))
    var decoder = try stage?.factory(.vp8)()
    let picture = try decoder?.decode(clip[0])
    #expect(try children() == 1)
    (decoder, stage) = (nil, nil)
    #expect(try children() == 0)
    #expect(picture?.samples.isEmpty == false)
  }

  @Test func `B9: a peer whose videos end their processes again and again is decoded no more`() throws {
    let stage = DecoderStage("crash")
    let (factory, clip) = (stage.factory(.vp8), try DecoderStage.clip(.vp8, count: 3))
    for _ in 0..<5 {
      let decoder = try factory()
      for data in clip.prefix(2) { _ = try decoder.decode(data) }
      #expect(throws: VideoDecoderError.self) { try decoder.decode(clip[2]) }
    }
    #expect(throws: VideoDecoderError.self) { try factory() }
    #expect(stage.sentences.count == 5 && stage.sentences[4].contains("not decoded for the next minute"))
    // Another peer's videos are.
    #expect(try stage.factory(.vp8)().decode(clip[0]) != nil)
  }

  @Test(arguments: DecoderStage.codecs)
  func `B9: pictures that are held and given back in any order leave room for more`(_ codec: VideoCodec) throws {
    let (decoder, clip) = (try DecoderStage().factory(codec)(), try DecoderStage.clip(codec, count: 20))
    let own = try CodecRegistry.decoder(of: codec, in: OwnDecoderMemory())
    var held: [(picture: PixelBuffer, samples: [UInt8])] = []
    for round in 0..<100 {
      let data = clip[round % clip.count]
      let picture = try #require(try decoder.decode(data))
      held.append((picture, try #require(try own.decode(data)).samples))
      if held.count > 9 { held.remove(at: round * 7 % held.count) }
      // Nobody writes into a picture that is held.
      if round % 20 == 19 { #expect(held.allSatisfy { $0.picture.samples == $0.samples }, "round \(round)") }
    }
  }

  @Test func `B9: without room for another picture it is refused, and later it goes on`() throws {
    let (decoder, clip) = (try DecoderStage().factory(.vp8)(), try DecoderStage.clip(.vp8, count: 1))
    var held: [PixelBuffer] = []
    while held.count < 100, let picture = try? decoder.decode(clip[0]) { held.append(picture) }
    #expect((20..<64).contains(held.count))
    held = []
    #expect(try decoder.decode(clip[0]) != nil)
  }

  private func children() throws -> Int {
    var bytes = [UInt8](repeating: 0, count: 4096)
    // Each thread has those that it started.
    var total = 0
    guard let folder = opendir("/proc/self/task") else { throw DecoderStage.Failure() }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard Int(name) != nil else { continue }
      let list = open("/proc/self/task/\(name)/children", O_RDONLY | O_CLOEXEC)
      guard list >= 0 else { continue }
      defer { close(list) }
      let count = read(list, &bytes, bytes.count)
      total += String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: " ").count
    }
    return total
  }
}

/// Memory of this process that knows what it gave.
private final class NotedMemory: DecoderMemory {
  private let own = OwnDecoderMemory()
  private let blocks = Mutex<[UInt: Int]>([:])

  func allocate(byteCount: Int) -> UInt? {
    let address = own.allocate(byteCount: byteCount)
    if let address { blocks.withLock { $0[address] = byteCount } }
    return address
  }

  func free(_ address: UInt, byteCount: Int) {
    blocks.withLock { $0[address] = nil }
    own.free(address, byteCount: byteCount)
  }

  func contains(_ address: UInt) -> Bool {
    blocks.withLock { $0.contains { address >= $0.key && address - $0.key < UInt($0.value) } }
  }
}
