import FeatureKit
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

/// Pictures lie in somebody's memory and are lent out, never copied.
@Suite struct PixelBufferTests {
  /// Memory of a picture, and how often it was given back.
  private final class Owner: Sendable {
    private let releases = Atomic(0)
    var timesReleased: Int { releases.load(ordering: .sequentiallyConsistent) }
    func release() { releases.add(1, ordering: .sequentiallyConsistent) }
  }

  private static let size = PixelSize(width: 6, height: 4)

  @Test(.feature("S0.71", "S4.16", "S4.21")) func `an application's own memory is a picture where it lies`() throws {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 32 * 4)
    for index in 0..<(32 * 4) { memory[index] = UInt8(index) }
    let owner = Owner()
    do {
      let buffer = try #require(
        PixelBuffer(format: .bgra, size: Self.size, planes: [(UnsafeRawPointer(memory), 32)]) { owner.release() })
      #expect(buffer.unsafePlane(0).base == UnsafeRawPointer(memory) && buffer.stride(ofPlane: 0) == 32)
      let bytes = buffer.bytes(ofPlane: 0)
      #expect(bytes.count == 32 * 3 + 6 * 4 && bytes[33] == 33)
      // What is drawn there later is seen: nothing was copied.
      memory[33] = 200
      #expect(bytes[33] == 200)
    }
    #expect(owner.timesReleased == 1)
    memory.deallocate()
  }

  @Test(.feature("S4.39", "S4.42")) func `memory is given back once, with the last of all who hold the picture`() throws
  {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 32 * 4, alignment: 64)
    let owner = Owner()
    var held: [VideoFrame] = []
    do {
      let buffer = try #require(
        PixelBuffer(format: .bgra, size: Self.size, planes: [(UnsafeRawPointer(memory), 32)]) { owner.release() })
      let frame = VideoFrame(buffer: buffer, captureTime: .zero, colorSpace: .sRGB)
      for rotation in [VideoRotation.none, .half] {
        var copy = frame
        copy.rotation = rotation
        held.append(copy)
      }
    }
    #expect(owner.timesReleased == 0)
    held.removeFirst()
    #expect(owner.timesReleased == 0)
    held.removeAll()
    #expect(owner.timesReleased == 1)
    memory.deallocate()
  }

  @Test func `memory that does not fit the picture is refused, and stays its owner's`() {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 64)
    let owner = Owner()
    let plane = (base: UnsafeRawPointer(memory), stride: 32)
    for (size, planes) in [
      (PixelSize(width: 0, height: 4), [plane]), (PixelSize(width: 9, height: 4), [plane]), (Self.size, []),
      (Self.size, [plane, plane]),
    ] {
      #expect(PixelBuffer(format: .bgra, size: size, planes: planes) { owner.release() } == nil)
    }
    #expect(owner.timesReleased == 0)
    memory.deallocate()
  }
}
